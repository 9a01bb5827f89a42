import { bundledLanguagesInfo } from 'shiki/langs';

type Language = (typeof bundledLanguagesInfo)[number];

/** Shiki's language names by the file names and extensions that Shiki does not list as aliases. */
const moreNames = new Map(
  Object.entries({
    cc: 'cpp',
    cljs: 'clojure',
    conf: 'ini',
    containerfile: 'docker',
    cxx: 'cpp',
    el: 'common-lisp',
    env: 'dotenv',
    ex: 'elixir',
    exs: 'elixir',
    fortran: 'fortran-free-form',
    gemfile: 'ruby',
    gnumakefile: 'make',
    gradle: 'groovy',
    h: 'c',
    hpp: 'cpp',
    hrl: 'erlang',
    htm: 'html',
    j2: 'jinja',
    ksh: 'bash',
    'liminal-script': 'javascript',
    m: 'objective-c',
    mk: 'make',
    ml: 'ocaml',
    mli: 'ocaml',
    ndjson: 'jsonl',
    pas: 'pascal',
    patch: 'diff',
    pl: 'perl',
    plist: 'xml',
    pm: 'perl',
    psm1: 'powershell',
    pyi: 'python',
    rakefile: 'ruby',
    rkt: 'racket',
    scm: 'scheme',
    service: 'systemd',
    sol: 'solidity',
    sv: 'system-verilog',
    svg: 'xml',
    vbnet: 'vb',
    wat: 'wasm',
    xhtml: 'html',
  }),
);

/** Returns a language by any of its names, ignoring case; undefined if there are no colours for the language. */
export function findLanguage(name: string): Language | undefined {
  const lower = name.toLowerCase();
  const known = moreNames.get(lower) ?? lower;
  return bundledLanguagesInfo.find(
    ({ id, aliases }) => id === known || aliases?.includes(known) === true,
  );
}
