import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../errors/api-error.js';
import { contentType, negotiate } from './media-types.js';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

test('the first range that can be served wins', () => {
  assert.equal(negotiate(undefined, 'object').format, 'json');
  assert.equal(negotiate('application/vnd.kubernetes.protobuf, */*', 'object').format, 'json');
  assert.equal(negotiate('application/vnd.kubernetes.protobuf,application/json', 'object').format, 'json');
  assert.throws(() => negotiate('application/vnd.kubernetes.protobuf', 'object'), { code: 406 });
  assert.equal(negotiate('application/yaml', 'object').format, 'yaml');
  assert.equal(negotiate(`${table},application/json`, 'list').as, 'table');
  assert.equal(negotiate('application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'list').metaVersion, 'v1beta1');
});

test('quality orders the ranges', () => {
  assert.equal(negotiate('application/yaml;q=0.5,application/json', 'object').format, 'json');
  assert.equal(negotiate('application/json;q=0.1,application/yaml;q=0.9', 'object').format, 'yaml');
});

test('a transformation that can not be had falls through to the next range', () => {
  assert.equal(
    negotiate('application/json;as=Chart;v=v1;g=meta.k8s.io,application/json', 'list').as,
    'object',
  );
  assert.equal(
    negotiate('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'list').as,
    'metadata',
  );
  assert.throws(() => negotiate('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'list'), {
    reason: 'NotAcceptable',
  });
});

test('what kube-controller-manager sends gets metadata as JSON', () => {
  const accept =
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,' +
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
  assert.deepEqual(negotiate(accept, 'watch'), {
    format: 'json',
    as: 'metadata',
    metaVersion: 'v1',
    pretty: false,
  });
});

test('nothing acceptable is a 406', () => {
  assert.throws(() => negotiate('text/csv', 'object'), ApiError);
  assert.throws(() => negotiate('application/yaml', 'watch'), { code: 406 });
  assert.throws(() => negotiate('application/json;q=0', 'object'), { code: 406 });
});

test('a content type loses its parameters', () => {
  assert.equal(contentType('Application/JSON; charset=utf-8'), 'application/json');
  assert.equal(contentType(undefined), 'application/json');
});
