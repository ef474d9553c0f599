/** The recorded cases against the API server alone. */
import { startNativeServer } from '../apiserver/native-server.js';
import { conformanceSuite } from './suite.js';

conformanceSuite(async () => {
  const server = await startNativeServer();
  return { ...server, ca: server.authority.cert, token: 'admin' };
});
