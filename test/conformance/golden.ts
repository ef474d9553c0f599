/**
 * Exchanges recorded from kube-apiserver 1.36.2 while it served KubeVirt's kinds as custom resources (`golden/*.json`): a file is
 * a list of cases, a case a list of steps, run in order in a namespace of its own.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
}

export interface Recorded {
  /** `4xx`: the recorded server answered with 500; any refusal with a Status is right. */
  readonly status: number | '4xx';
  readonly contentType: string;
  readonly warnings: readonly string[];
  readonly body: unknown;
  /** Whether the server ended the answer (a watch goes on). */
  readonly ended: boolean;
}

export interface Step extends Call {
  readonly answer?: Recorded;
  /** Sent, but not compared. */
  readonly unrecorded?: boolean;
  /** Milliseconds before it is sent. */
  readonly waitMs?: number;
  /** Variables for later steps, by the path of their value in the answer. */
  readonly save?: Readonly<Record<string, string>>;
  /** Paths of the body that are compared; all of it if absent. */
  readonly check?: readonly string[];
  /** Paths that must be absent or empty. */
  readonly absent?: readonly string[];
  /** Of a Status, whether the message is compared too. */
  readonly message?: boolean;
  /** False: the causes of a Status are not compared. */
  readonly causes?: boolean;
  readonly watch?: boolean;
  /** How many events of a watch to wait for. */
  readonly events?: number;
  /** How long to read a watch at most. */
  readonly maxMs?: number;
  /** Sent while the watch is open. */
  readonly during?: readonly Call[];
}

export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Paths to delete afterwards. */
  readonly cleanup?: readonly string[];
}

export interface GoldenFile {
  readonly name: string;
  readonly cases: readonly Case[];
}

export function readGolden(): readonly GoldenFile[] {
  const directory = join(import.meta.dirname, 'golden');
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => ({
    name,
    // Recorded by our own tool, in this form.
    cases: JSON.parse(readFileSync(join(directory, name), 'utf8')) as Case[],
  }));
}
