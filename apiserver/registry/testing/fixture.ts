/** A registry over the memory backend, and requests against it without HTTP. */
import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { loadDefinitions } from '../../../openapi/definitions.js';
import type { KubeVirtConfiguration } from '../../../openapi/generated/types/kubevirt_v1.js';
import { createStoreSet } from '../../../storage/cache/store-set.js';
import { createMemoryBackend } from '../../../storage/memory/backend.js';
import { createManualClock } from '../../../storage/testing/manual-clock.js';
import type { Backend } from '../../../storage/interface.js';
import type { AdmissionPlugin } from '../../admission/interface.js';
import { FieldManager } from '../../apply/field-manager.js';
import { ApiError } from '../../errors/api-error.js';
import { statusReply } from '../../http/status-reply.js';
import { parseRequestInfo } from '../../request-info.js';
import type { Reply, UserInfo } from '../../request.js';
import { coreResources, kubevirtResources } from '../../resources/index.js';
import { attributesOfStored } from '../attributes.js';
import { resourcePrefix } from '../keys.js';
import { createRegistry, type Registry } from '../registry.js';
import type { Resource } from '../resource.js';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  /** Parsed JSON, or text. Of a stream, nothing. */
  readonly body: unknown;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Fixture {
  readonly registry: Registry;
  readonly reply: (
    method: string,
    path: string,
    options?: RequestOptions,
  ) => Promise<{ reply: Reply; warnings: string[] }>;
  readonly request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  /** The first `count` events of a watch, which then ends. */
  readonly watch: (
    path: string,
    count: number,
    during?: () => Promise<unknown>,
    headers?: RequestOptions['headers'],
  ) => Promise<unknown[]>;
  /** Moves the clock of the registry; it stands still otherwise. */
  readonly advance: (milliseconds: number) => void;
  readonly close: () => Promise<void>;
}

export const admin: UserInfo = { name: 'admin', groups: ['system:masters'], extra: {} };
export const testStart = Date.parse('2026-01-02T03:04:05Z');

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function bodyOf(body: unknown): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

export async function startRegistry(
  options: {
    readonly resources?: readonly Resource[];
    readonly admission?: readonly AdmissionPlugin[];
    readonly configuration?: KubeVirtConfiguration;
    /** What happened to the store before this server started. */
    readonly past?: (backend: Backend) => Promise<void>;
  } = {},
): Promise<Fixture> {
  const definitions = loadDefinitions();
  const resources = options.resources ?? [...kubevirtResources, ...coreResources];
  const clock = createManualClock(testStart);
  const backend = createMemoryBackend();
  const stores = createStoreSet({
    backend,
    logger: pino({ level: 'silent' }),
    limits: { readWaitMilliseconds: 20 },
  });
  // The timers of storage do not keep the process alive, and in a test nothing else does.
  const alive = setInterval(() => undefined, 1000);
  const registry = createRegistry({
    resources,
    definitions,
    storeFor: (resource) =>
      stores.add({
        prefix: resourcePrefix(resource),
        attributesOf: (_key, bytes) => attributesOfStored(resource, bytes),
      }),
    fieldsFor: (resource) =>
      new FieldManager({
        definitions,
        definition: resource.versions[0]?.definition ?? '',
        separateStatus: resource.status,
      }),
    admission: options.admission ?? [],
    configuration: () => options.configuration ?? {},
    clock,
    uuid: randomUUID,
    randomBytes,
  });
  await options.past?.(backend);
  await stores.start();

  async function reply(
    method: string,
    path: string,
    { body, headers = {}, signal = new AbortController().signal }: RequestOptions = {},
  ): Promise<{ reply: Reply; warnings: string[] }> {
    const url = new URL(path, 'https://localhost');
    const warnings: string[] = [];
    try {
      const answer = await registry.handle({
        info: parseRequestInfo(method, url.pathname, url.searchParams),
        user: admin,
        query: url.searchParams,
        headers,
        body: bodyOf(body),
        signal,
        warn: (text) => warnings.push(text),
      });
      return { reply: answer, warnings };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { reply: statusReply(error), warnings };
    }
  }

  return {
    registry,
    reply,
    async request(method, path, requestOptions) {
      const { reply: answer, warnings } = await reply(method, path, requestOptions);
      if (answer.kind === 'stream') throw new Error(`${path} answers with a stream`);
      const text = Buffer.concat(answer.chunks).toString();
      return { status: answer.status, contentType: answer.contentType, warnings, body: parse(text) };
    },
    async watch(path, count, during = () => Promise.resolve(), headers = {}) {
      const abort = new AbortController();
      const { reply: answer } = await reply('GET', path, { headers, signal: abort.signal });
      if (answer.kind !== 'stream')
        throw new Error(`${path} answers with no stream: ${JSON.stringify(answer.status)}`);
      const events: unknown[] = [];
      const reading = (async (): Promise<void> => {
        for await (const chunks of answer.chunks) {
          const lines = Buffer.concat(chunks).toString().trim().split('\n');
          events.push(...lines.map((line): unknown => JSON.parse(line)));
          if (events.length >= count) return;
        }
      })();
      await during();
      await reading;
      abort.abort();
      return events;
    },
    advance(milliseconds) {
      clock.advance(milliseconds);
    },
    async close() {
      clearInterval(alive);
      await stores.close();
      await backend.close();
    },
  };
}
