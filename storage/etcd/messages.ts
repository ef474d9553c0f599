/** Types of the messages in `schema.ts`: what may be left out of a request, and what a response always has. */

export interface Header {
  readonly revision: number;
}

export interface EtcdKeyValue {
  readonly key: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly value: Buffer;
}

export interface RangeRequest {
  readonly key: Buffer;
  readonly rangeEnd?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly countOnly?: boolean;
}

export interface RangeResponse {
  readonly header: Header;
  readonly kvs: readonly EtcdKeyValue[];
  readonly more: boolean;
}

export interface PutRequest {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly lease?: number;
}

export type RequestOp =
  | { readonly range: RangeRequest }
  | { readonly put: PutRequest }
  | { readonly deleteRange: { readonly key: Buffer } };

/** `result` 0: equal. `target` 0: version, 2: modRevision. */
export type Compare =
  | { readonly result: 0; readonly target: 0; readonly key: Buffer; readonly version: number }
  | { readonly result: 0; readonly target: 2; readonly key: Buffer; readonly modRevision: number };

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly RequestOp[];
  readonly failure: readonly RequestOp[];
}

export interface TxnResponse {
  readonly header: Header;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly range?: RangeResponse }[];
}

export type WatchRequest =
  | {
      readonly create: {
        readonly key: Buffer;
        readonly rangeEnd: Buffer;
        readonly startRevision: number;
        readonly progressNotify: boolean;
        readonly prevKv: boolean;
        readonly fragment: boolean;
      };
    }
  | { readonly progress: Record<string, never> };

export interface WatchResponse {
  readonly header: Header;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More of the same follows. */
  readonly fragment: boolean;
  readonly events: readonly EtcdEvent[];
}

/** `type` 0: put, 1: delete. */
export interface EtcdEvent {
  readonly type: number;
  readonly kv: EtcdKeyValue;
  readonly prevKv: EtcdKeyValue | null;
}

/** The unary calls. */
export interface Calls {
  readonly Range: { readonly request: RangeRequest; readonly response: RangeResponse };
  readonly Txn: { readonly request: TxnRequest; readonly response: TxnResponse };
  readonly Put: { readonly request: PutRequest; readonly response: { readonly header: Header } };
  readonly Compact: {
    readonly request: { readonly revision: number; readonly physical: boolean };
    readonly response: { readonly header: Header };
  };
  readonly LeaseGrant: {
    readonly request: { readonly ttl: number; readonly id: number };
    readonly response: { readonly header: Header; readonly id: number; readonly ttl: number };
  };
  readonly Status: {
    readonly request: Record<string, never>;
    readonly response: { readonly header: Header; readonly version: string };
  };
}

export const services = {
  Range: 'KV',
  Txn: 'KV',
  Put: 'KV',
  Compact: 'KV',
  LeaseGrant: 'Lease',
  Status: 'Maintenance',
} as const satisfies Record<keyof Calls, string>;
