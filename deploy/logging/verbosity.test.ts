import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { levelOf, verbosityOf } from './verbosity.js';

test("klog's numbers have levels: the usual one is info", () => {
  const levels = [-1, 0, 1, 2, 3, 4, 5, 9].map(levelOf);
  assert.deepEqual(levels, ['warn', 'warn', 'info', 'info', 'debug', 'debug', 'trace', 'trace']);
});

/** What has been logged is in `lines`, by its message. */
function recorded(level: string) {
  const lines: string[] = [];
  const logger = pino(
    { level },
    { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  );
  return { logger, lines };
}

test('a level that changes is that of the loggers that were made before and after, and of theirs', () => {
  const { logger, lines } = recorded('info');
  const setVerbosity = verbosityOf(logger);
  const before = logger.child({ controller: 'pool' }).child({ pool: 'a' });
  before.debug('unheard');
  setVerbosity(4);
  before.debug('made before');
  logger.child({ controller: 'node' }).debug('made after');
  before.trace('unheard');
  setVerbosity(undefined);
  before.debug('unheard');
  logger.debug('unheard');
  before.info('still there');
  const change = 'the level of the log has changed';
  assert.deepEqual(lines, [change, 'made before', 'made after', change, 'still there']);
});

test('no configuration makes a log say less than its process was started to say', () => {
  const { logger } = recorded('debug');
  const setVerbosity = verbosityOf(logger);
  for (const verbosity of [0, 2, undefined]) {
    setVerbosity(verbosity);
    assert.equal(logger.level, 'debug');
  }
  setVerbosity(9);
  assert.equal(logger.level, 'trace');
});

test('a process that was started silent is heard once verbosity is configured', () => {
  const { logger } = recorded('silent');
  const setVerbosity = verbosityOf(logger);
  setVerbosity(0);
  assert.equal(logger.level, 'warn');
  setVerbosity(undefined);
  assert.equal(logger.level, 'silent');
});

test('components that share a process have levels of their own', () => {
  const { logger } = recorded('info');
  const apiserver = logger.child({ component: 'apiserver' });
  const controllers = logger.child({ component: 'controllers' });
  const setVerbosity = verbosityOf(apiserver);
  verbosityOf(controllers)(2);
  const part = apiserver.child({ part: 'audit' });
  setVerbosity(5);
  assert.deepEqual(
    [logger, controllers, apiserver, part].map(({ level }) => level),
    ['info', 'info', 'trace', 'trace'],
  );
});
