import { Component, type ReactNode } from 'react';

interface GuardProps {
  children: ReactNode;
  /** Rendered in place of the children if rendering them fails. */
  fallback: ReactNode;
  /** The content; a new value renders the children again after an error. */
  of: unknown;
}

interface GuardState {
  failed: boolean;
  of: unknown;
}

/** Keeps a rendering error from taking down the rest of the page. */
export class Guard extends Component<GuardProps, GuardState> {
  override state: GuardState = { failed: false, of: this.props.of };

  static getDerivedStateFromError(): Partial<GuardState> {
    return { failed: true };
  }

  static getDerivedStateFromProps({ of }: GuardProps, state: GuardState): GuardState | null {
    return Object.is(of, state.of) ? null : { failed: false, of };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
