/**
 * The part of etcd's v3 API that the backend uses, as protobufjs' JSON form of a .proto file: no file is read at run time,
 * so that bundles work. Names are our own; numbers and types are what goes over the wire.
 */

type Fields = Record<string, { type: string; id: number; rule?: 'repeated' }>;

const field = (type: string, id: number): Fields[string] => ({ type, id });
const repeated = (type: string, id: number): Fields[string] => ({ type, id, rule: 'repeated' });

const messages: Record<string, { fields: Fields; oneofs?: Record<string, { oneof: string[] }> }> = {
  Header: { fields: { revision: field('int64', 3) } },
  KeyValue: {
    fields: {
      key: field('bytes', 1),
      createRevision: field('int64', 2),
      modRevision: field('int64', 3),
      version: field('int64', 4),
      value: field('bytes', 5),
      lease: field('int64', 6),
    },
  },

  RangeRequest: {
    fields: {
      key: field('bytes', 1),
      rangeEnd: field('bytes', 2),
      limit: field('int64', 3),
      revision: field('int64', 4),
      countOnly: field('bool', 9),
    },
  },
  RangeResponse: {
    fields: { header: field('Header', 1), kvs: repeated('KeyValue', 2), more: field('bool', 3) },
  },
  PutRequest: { fields: { key: field('bytes', 1), value: field('bytes', 2), lease: field('int64', 3) } },
  PutResponse: { fields: { header: field('Header', 1) } },
  DeleteRangeRequest: { fields: { key: field('bytes', 1), rangeEnd: field('bytes', 2) } },
  DeleteRangeResponse: { fields: { header: field('Header', 1), deleted: field('int64', 2) } },
  Compare: {
    fields: {
      result: field('int32', 1),
      target: field('int32', 2),
      key: field('bytes', 3),
      version: field('int64', 4),
      createRevision: field('int64', 5),
      modRevision: field('int64', 6),
    },
    oneofs: { union: { oneof: ['version', 'createRevision', 'modRevision'] } },
  },
  RequestOp: {
    fields: {
      range: field('RangeRequest', 1),
      put: field('PutRequest', 2),
      deleteRange: field('DeleteRangeRequest', 3),
    },
    oneofs: { request: { oneof: ['range', 'put', 'deleteRange'] } },
  },
  ResponseOp: {
    fields: {
      range: field('RangeResponse', 1),
      put: field('PutResponse', 2),
      deleteRange: field('DeleteRangeResponse', 3),
    },
    oneofs: { response: { oneof: ['range', 'put', 'deleteRange'] } },
  },
  TxnRequest: {
    fields: {
      compare: repeated('Compare', 1),
      success: repeated('RequestOp', 2),
      failure: repeated('RequestOp', 3),
    },
  },
  TxnResponse: {
    fields: { header: field('Header', 1), succeeded: field('bool', 2), responses: repeated('ResponseOp', 3) },
  },
  CompactionRequest: { fields: { revision: field('int64', 1), physical: field('bool', 2) } },
  CompactionResponse: { fields: { header: field('Header', 1) } },

  WatchCreateRequest: {
    fields: {
      key: field('bytes', 1),
      rangeEnd: field('bytes', 2),
      startRevision: field('int64', 3),
      progressNotify: field('bool', 4),
      prevKv: field('bool', 6),
      fragment: field('bool', 8),
    },
  },
  WatchProgressRequest: { fields: {} },
  WatchRequest: {
    fields: { create: field('WatchCreateRequest', 1), progress: field('WatchProgressRequest', 3) },
    oneofs: { request: { oneof: ['create', 'progress'] } },
  },
  Event: { fields: { type: field('int32', 1), kv: field('KeyValue', 2), prevKv: field('KeyValue', 3) } },
  WatchResponse: {
    fields: {
      header: field('Header', 1),
      watchId: field('int64', 2),
      created: field('bool', 3),
      canceled: field('bool', 4),
      compactRevision: field('int64', 5),
      cancelReason: field('string', 6),
      fragment: field('bool', 7),
      events: repeated('Event', 11),
    },
  },

  LeaseGrantRequest: { fields: { ttl: field('int64', 1), id: field('int64', 2) } },
  LeaseGrantResponse: {
    fields: {
      header: field('Header', 1),
      id: field('int64', 2),
      ttl: field('int64', 3),
      error: field('string', 4),
    },
  },
  StatusRequest: { fields: {} },
  StatusResponse: { fields: { header: field('Header', 1), version: field('string', 2) } },
};

interface Method {
  requestType: string;
  responseType: string;
  requestStream: boolean;
  responseStream: boolean;
  comment: string;
}

const method = (name: string, stream = false): Method => ({
  requestType: `${name}Request`,
  responseType: `${name}Response`,
  requestStream: stream,
  responseStream: stream,
  comment: '',
});

export const schema = {
  nested: {
    etcdserverpb: {
      nested: {
        ...messages,
        KV: {
          methods: {
            Range: method('Range'),
            Txn: method('Txn'),
            Put: method('Put'),
            Compact: method('Compaction'),
          },
        },
        Watch: { methods: { Watch: method('Watch', true) } },
        Lease: { methods: { LeaseGrant: method('LeaseGrant') } },
        Maintenance: { methods: { Status: method('Status') } },
      },
    },
  },
};
