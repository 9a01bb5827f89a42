import { Component, type ReactNode } from 'react';

interface GuardProps {
  children: ReactNode;
  /** The content that is shown instead of the children if rendering them fails. */
  fallback: ReactNode;
  /** The content of the children. After an error, a new value renders the children again. */
  of: unknown;
}

interface GuardState {
  failed: boolean;
  of: unknown;
}

/** Limits a rendering error to the children, so that the rest of the page remains. */
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
