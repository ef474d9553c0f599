/** The wire format of QMP, as far as a client reads it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface QmpGreeting {
  readonly version: string;
  readonly capabilities: readonly string[];
}

export interface QmpEvent {
  readonly event: string;
  readonly data: JsonObject;
  /** Milliseconds since the epoch, by QEMU's clock; 0 where QEMU gave none. */
  readonly time: number;
}

export type QmpMessage =
  | { readonly kind: 'greeting'; readonly greeting: QmpGreeting }
  | { readonly kind: 'event'; readonly event: QmpEvent }
  | { readonly kind: 'result'; readonly id: unknown; readonly value: unknown }
  | {
      readonly kind: 'error';
      readonly id: unknown;
      readonly errorClass: string;
      readonly description: string;
    };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function integer(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0;
}

/** Throws a SyntaxError or TypeError on what is no QMP message. */
export function parseMessage(line: string): QmpMessage {
  const message: unknown = JSON.parse(line);
  if (!isObject(message)) throw new TypeError(`not an object: ${line.slice(0, 80)}`);
  if (isObject(message['QMP'])) return { kind: 'greeting', greeting: parseGreeting(message['QMP']) };
  if (typeof message['event'] === 'string')
    return { kind: 'event', event: parseEvent(message['event'], message) };
  if (isObject(message['error'])) {
    const { error, id } = message;
    return {
      kind: 'error',
      id,
      errorClass: text(error['class']),
      description: text(error['desc']),
    };
  }
  if ('return' in message) return { kind: 'result', id: message['id'], value: message['return'] };
  throw new TypeError(`neither greeting, event nor answer: ${line.slice(0, 80)}`);
}

function parseGreeting(qmp: JsonObject): QmpGreeting {
  const version = isObject(qmp['version']) && isObject(qmp['version']['qemu']) ? qmp['version']['qemu'] : {};
  const capabilities = Array.isArray(qmp['capabilities']) ? qmp['capabilities'] : [];
  return {
    version: ['major', 'minor', 'micro'].map((part) => integer(version[part])).join('.'),
    capabilities: capabilities.filter((capability) => typeof capability === 'string'),
  };
}

function parseEvent(event: string, message: JsonObject): QmpEvent {
  const stamp = isObject(message['timestamp']) ? message['timestamp'] : {};
  return {
    event,
    data: isObject(message['data']) ? message['data'] : {},
    time: integer(stamp['seconds']) * 1000 + Math.floor(integer(stamp['microseconds']) / 1000),
  };
}
