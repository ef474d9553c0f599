import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { kubeletSocket, type RegisterRequest } from '../protocol.js';
import { registerMethod } from './kubelet-api.js';

/** The kubelet's half: takes registrations, and calls the plugins back. */
export class FakeKubelet {
  private server: Server | undefined;
  private readonly waiting: ((request: RegisterRequest) => void)[] = [];
  private readonly registered: RegisterRequest[] = [];

  constructor(readonly directory: string) {}

  /** As a kubelet that starts: it removes what is in its directory. */
  async start(): Promise<void> {
    this.stop();
    for (const name of readdirSync(this.directory)) rmSync(join(this.directory, name));
    const server = new Server();
    server.addService(
      { Register: registerMethod },
      {
        Register: (
          { request }: { request: RegisterRequest },
          answer: (error: null, value: object) => void,
        ) => {
          const next = this.waiting.shift();
          if (next === undefined) this.registered.push(request);
          else next(request);
          answer(null, {});
        },
      },
    );
    await new Promise<void>((resolve, reject) => {
      const address = `unix://${join(this.directory, kubeletSocket)}`;
      server.bindAsync(address, ServerCredentials.createInsecure(), (error) =>
        error ? reject(error) : resolve(),
      );
    });
    this.server = server;
  }

  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  registration(): Promise<RegisterRequest> {
    const first = this.registered.shift();
    return first === undefined
      ? new Promise((resolve) => this.waiting.push(resolve))
      : Promise.resolve(first);
  }
}
