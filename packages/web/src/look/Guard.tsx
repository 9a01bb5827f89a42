import { Component, type ReactNode } from 'react';

interface GuardProps {
  children: ReactNode;
  /** Drawn instead, where something in it throws. */
  fallback: ReactNode;
  /** What is drawn: another one is tried anew. */
  of: unknown;
}

interface GuardState {
  failed: boolean;
  of: unknown;
}

/** Keeps what cannot be drawn from taking the rest of the page with it. */
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
