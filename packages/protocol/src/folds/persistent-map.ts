/**
 * An immutable map: `set` and `delete` return a new map, which shares nearly all of its nodes with the old map.
 * Therefore the state of a fold can be kept and continued more than once, and a step costs the same among ten thousand
 * items as among ten. The map is a hash array mapped trie (Bagwell, Ideal Hash Trees, 2001).
 */
export class PersistentMap<V> {
  // The field is only declared: in each of the many new maps, a field without a value would first be set to undefined.
  declare readonly size: number;
  declare readonly root: Node<V> | undefined;
  /** The position that the next new key gets. */
  declare readonly next: number;

  private constructor(size: number, root: Node<V> | undefined, next: number) {
    this.size = size;
    this.root = root;
    this.next = next;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(0, undefined, 0);
  }

  get(key: string): V | undefined {
    return find(this.root, hashOf(key), key)?.value;
  }

  has(key: string): boolean {
    return find(this.root, hashOf(key), key) !== undefined;
  }

  /**
   * Returns the key's position in the order of first `set` calls: a key that was set earlier has a smaller position. If
   * a key is set again, its position stays.
   */
  placeOf(key: string): number | undefined {
    return find(this.root, hashOf(key), key)?.place;
  }

  set(key: string, value: V): PersistentMap<V> {
    const hash = hashOf(key);
    const known = find(this.root, hash, key);
    const { size, root, next } = this;
    const entry = { key, value, place: known?.place ?? next };
    return known
      ? new PersistentMap(size, insert(root, 0, hash, entry), next)
      : new PersistentMap(size + 1, insert(root, 0, hash, entry), next + 1);
  }

  /** Returns a map without the key. If the map does not have the key, returns the map itself. */
  delete(key: string): PersistentMap<V> {
    const hash = hashOf(key);
    const { size, root, next } = this;
    if (!find(root, hash, key)) return this;
    return new PersistentMap(size - 1, remove(root, 0, hash, key), next);
  }

  /** The keys in the order in which they were first set; costs O(size · log size). */
  keys(): string[] {
    return this.#entries().map(({ key }) => key);
  }

  /** The values, in the same order as `keys`. */
  values(): V[] {
    return this.#entries().map(({ value }) => value);
  }

  #entries(): Entry<V>[] {
    const entries: Entry<V>[] = [];
    collect(this.root, entries);
    return entries.sort((a, b) => a.place - b.place);
  }
}

interface Entry<V> {
  readonly key: string;
  readonly value: V;
  readonly place: number;
}

/** The entries with one hash; nearly always there is only one. */
interface Leaf<V> {
  readonly hash: number;
  readonly entries: readonly Entry<V>[];
}

/** One child for each set bit, in the order of the bits. */
interface Branch<V> {
  readonly bits: number;
  readonly children: readonly Node<V>[];
}

type Node<V> = Leaf<V> | Branch<V>;

/** The number of bits of the hash that choose a child. */
const step = 5;

function isLeaf<V>(node: Node<V>): node is Leaf<V> {
  return 'entries' in node;
}

/** Caches the last key and its hash, because one event looks up the same key in many maps. */
let last = { key: '', hash: 0 };

function hashOf(key: string): number {
  if (key !== last.key) last = { key, hash: hashAnew(key) };
  return last.hash;
}

function hashAnew(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index++) {
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
  }
  return hash;
}

/** Returns the bit of the child for a hash at a depth of `shift` bits. */
function bitOf(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & 31);
}

/** The number of children before the child of a bit. */
function indexOf(bits: number, bit: number): number {
  let before = bits & (bit - 1);
  before -= (before >>> 1) & 0x55555555;
  before = (before & 0x33333333) + ((before >>> 2) & 0x33333333);
  return Math.imul((before + (before >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function find<V>(root: Node<V> | undefined, hash: number, key: string): Entry<V> | undefined {
  let node = root;
  for (let shift = 0; node && !isLeaf(node); shift += step) {
    const bit = bitOf(hash, shift);
    node = node.bits & bit ? node.children[indexOf(node.bits, bit)] : undefined;
  }
  if (node?.hash !== hash) return undefined;
  const [only] = node.entries;
  return only?.key === key ? only : node.entries.find((entry) => entry.key === key);
}

function insert<V>(
  node: Node<V> | undefined,
  shift: number,
  hash: number,
  entry: Entry<V>,
): Node<V> {
  if (!node) return { hash, entries: [entry] };
  if (isLeaf(node)) {
    if (node.hash !== hash) return join(node, { hash, entries: [entry] }, shift);
    const [only, second] = node.entries;
    if (only?.key === entry.key && second === undefined) return { hash, entries: [entry] };
    return { hash, entries: [...node.entries.filter(({ key }) => key !== entry.key), entry] };
  }
  const bit = bitOf(hash, shift);
  const index = indexOf(node.bits, bit);
  const known = node.bits & bit ? node.children[index] : undefined;
  const child = insert(known, shift + step, hash, entry);
  if (known) return { bits: node.bits, children: node.children.with(index, child) };
  return { bits: node.bits | bit, children: node.children.toSpliced(index, 0, child) };
}

/** Returns a branch for two leaves with different hashes, deep enough to separate them. */
function join<V>(a: Leaf<V>, b: Leaf<V>, shift: number): Branch<V> {
  const [bitA, bitB] = [bitOf(a.hash, shift), bitOf(b.hash, shift)];
  if (bitA === bitB) return { bits: bitA, children: [join(a, b, shift + step)] };
  const aFirst = bitA >>> 0 < bitB >>> 0;
  return { bits: bitA | bitB, children: aFirst ? [a, b] : [b, a] };
}

/** Removes an existing key. A branch whose only child is a leaf is replaced by that leaf. */
function remove<V>(
  node: Node<V> | undefined,
  shift: number,
  hash: number,
  key: string,
): Node<V> | undefined {
  if (!node) return undefined;
  if (isLeaf(node)) {
    const entries = node.entries.filter((entry) => entry.key !== key);
    return entries.length > 0 ? { hash, entries } : undefined;
  }
  const bit = bitOf(hash, shift);
  const index = indexOf(node.bits, bit);
  const child = remove(node.children[index], shift + step, hash, key);
  const children = child ? node.children.with(index, child) : node.children.toSpliced(index, 1);
  const [only, second] = children;
  if (!only || (!second && isLeaf(only))) return only;
  return { bits: child ? node.bits : node.bits & ~bit, children };
}

function collect<V>(node: Node<V> | undefined, into: Entry<V>[]): void {
  if (!node) return;
  if (isLeaf(node)) into.push(...node.entries);
  else for (const child of node.children) collect(child, into);
}
