import type { QuickJSWASMModule } from 'quickjs-emscripten-core';

/** The types for the part of WebAssembly that is used here, because Node's types lack almost all of that part. */
interface WebAssemblyApi {
  compile: (bytes: Uint8Array) => Promise<WebAssembly.Module>;
  /** The sizes are in pages of 64 KiB. */
  Memory: new (size: { initial: number; maximum: number }) => Memory;
}

export type Memory = ReturnType<QuickJSWASMModule['getWasmMemory']>;

export const { compile, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyApi })
  .WebAssembly;
