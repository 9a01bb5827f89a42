import { thrownMessage } from '@liminal/protocol';
import { Component, type ReactNode } from 'react';
import { Button } from '../look/controls.tsx';
import states from '../session/SessionStates.module.css';

interface PageGuardProps {
  children: ReactNode;
}

interface PageGuardState {
  problem: string | undefined;
}

/** If a page cannot be rendered, shows a message instead of an empty window. */
export class PageGuard extends Component<PageGuardProps, PageGuardState> {
  override state: PageGuardState = { problem: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { problem: thrownMessage(error) };
  }

  override render() {
    const { problem } = this.state;
    if (problem === undefined) return this.props.children;
    return (
      <main className={states.failed} role="alert">
        <h1>This page crashed</h1>
        <p>Nothing is lost. Reload to go on.</p>
        <code>{problem}</code>
        <Button onClick={() => location.reload()}>Reload</Button>
      </main>
    );
  }
}
