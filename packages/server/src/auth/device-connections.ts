import type { SignedOut } from './credentials.ts';

/** Ends a connection. */
export type EndConnection = () => void;

/** A connection of a signed-in browser. It is tracked from the request to the connection's end. */
export interface DeviceConnection {
  readonly deviceId: string;
  /** Replaces the function that ends the connection, after a change of protocol. */
  endBy(end: EndConnection): void;
  /** Stops tracking the connection, because it has ended or must not be ended. */
  leave(): void;
  /** Tracks another connection or stream of the same browser, which may outlive this connection. */
  another(end: EndConnection): DeviceConnection;
}

/** The open requests and connections of each signed-in browser. They are ended when the browser is signed out. */
export class DeviceConnections {
  readonly #signedOut: SignedOut;
  readonly #byDevice = new Map<string, Set<{ end: EndConnection }>>();

  constructor(signedOut: SignedOut) {
    this.#signedOut = signedOut;
    signedOut.watch(() => this.#endSignedOut());
  }

  enter(deviceId: string, end: EndConnection): DeviceConnection {
    const connection = { end };
    const open = this.#byDevice.get(deviceId) ?? new Set();
    this.#byDevice.set(deviceId, open.add(connection));
    // The browser may have been signed out after its request arrived.
    if (this.#signedOut.has(deviceId)) queueMicrotask(() => connection.end());
    return {
      deviceId,
      another: (endAnother) => this.enter(deviceId, endAnother),
      endBy: (other) => void (connection.end = other),
      leave: () => {
        open.delete(connection);
        if (open.size === 0 && this.#byDevice.get(deviceId) === open) {
          this.#byDevice.delete(deviceId);
        }
      },
    };
  }

  #endSignedOut(): void {
    for (const [deviceId, open] of this.#byDevice) {
      if (!this.#signedOut.has(deviceId)) continue;
      this.#byDevice.delete(deviceId);
      for (const { end } of open) end();
    }
  }
}
