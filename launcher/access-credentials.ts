import type { AccessCredential, VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import { accessCredentialVolume } from '../openapi/launcher/pod.js';
import type { DomainStatus } from '../openapi/launcher/protocol.js';
import { asError, type Clock } from './clock.js';
import { volumeFiles } from './disks/volume-files.js';
import type { GuestAgent } from './guest-agent.js';
import type { Logger } from './log.js';
import type { JsonObject } from './qmp/messages.js';

/** A secret that was changed is in the guest this much later than in the pod. */
const lookAgainMs = 10_000;

type Report = NonNullable<DomainStatus['accessCredentials']>;

interface AgentCommand {
  readonly execute: string;
  readonly arguments: JsonObject;
}

export interface AccessCredentialsOptions {
  readonly vmi: VirtualMachineInstance;
  readonly agent: Pick<GuestAgent, 'execute'>;
  readonly publish: (report: Report) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Keeps the SSH keys and passwords of a running guest what the secrets say, by its agent. What cloud-init brings into the
 * guest is on its disk; see `sshPublicKeys`.
 */
export class AccessCredentials {
  private active = false;
  private cancel: () => void = () => {};
  /** What the guest has been given since its agent connected. */
  private given = '';
  private report: Report | undefined;

  constructor(private readonly options: AccessCredentialsOptions) {}

  start(): void {
    if (this.active || !usesAgent(this.options.vmi)) return;
    this.active = true;
    this.given = '';
    void this.look();
  }

  stop(): void {
    this.active = false;
    this.cancel();
  }

  private async look(): Promise<void> {
    const report = await this.bring().then(
      (): Report => ({ synchronized: true, message: '' }),
      (error: unknown): Report => ({ synchronized: false, message: asError(error).message }),
    );
    // An agent that has gone says nothing of the credentials; the next one gets them all.
    if (!this.active) return;
    this.publish(report);
    this.cancel = this.options.clock.after(lookAgainMs, () => void this.look());
  }

  private async bring(): Promise<void> {
    const { vmi, agent } = this.options;
    const commands = await agentCommands(vmi);
    const wanted = JSON.stringify(commands);
    if (wanted === this.given) return;
    for (const { execute, arguments: parameters } of commands) await agent.execute(execute, parameters);
    this.given = wanted;
  }

  private publish(report: Report): void {
    const { report: before } = this;
    if (before?.synchronized === report.synchronized && before.message === report.message) return;
    this.report = report;
    if (!report.synchronized)
      this.options.logger.warn('access credentials could not be brought into the guest', {
        error: report.message,
      });
    this.options.publish(report);
  }
}

function usesAgent({ spec }: VirtualMachineInstance): boolean {
  return (spec.accessCredentials ?? []).some((credential) => methodOf(credential)?.qemuGuestAgent);
}

function methodOf({ sshPublicKey, userPassword }: AccessCredential) {
  return sshPublicKey?.propagationMethod ?? userPassword?.propagationMethod;
}

/** Several credentials may name one user, whose keys they are together. */
async function agentCommands({ spec }: VirtualMachineInstance): Promise<AgentCommand[]> {
  const keys = new Map<string, string[]>();
  const passwords: AgentCommand[] = [];
  for (const [index, { sshPublicKey, userPassword }] of (spec.accessCredentials ?? []).entries()) {
    const users = sshPublicKey?.propagationMethod.qemuGuestAgent?.users;
    if (users) {
      const found = await keysOf(index);
      for (const user of users) keys.set(user, [...(keys.get(user) ?? []), ...found]);
    }
    if (userPassword?.propagationMethod.qemuGuestAgent) passwords.push(...(await passwordsOf(index)));
  }
  const authorized = [...keys].map(([username, found]) => ({
    execute: 'guest-ssh-add-authorized-keys',
    arguments: { username, keys: found, reset: true },
  }));
  return [...authorized, ...passwords];
}

/** Each key of the secret is a user's name. */
async function passwordsOf(index: number): Promise<AgentCommand[]> {
  const files = await volumeFiles(accessCredentialVolume(index));
  return files.map(({ path, content }) => ({
    execute: 'guest-set-user-password',
    arguments: { username: path, password: Buffer.from(content).toString('base64'), crypted: false },
  }));
}

/** Every line of every key of the secret. */
async function keysOf(index: number): Promise<string[]> {
  const files = await volumeFiles(accessCredentialVolume(index));
  return files.flatMap(({ content }) =>
    Buffer.from(content)
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );
}

/** SSH keys that cloud-init is to bring into the guest, in the order of the spec. */
export async function sshPublicKeys(
  { spec }: VirtualMachineInstance,
  method: 'noCloud' | 'configDrive',
): Promise<string[]> {
  const found: string[] = [];
  for (const [index, { sshPublicKey }] of (spec.accessCredentials ?? []).entries())
    if (sshPublicKey?.propagationMethod[method]) found.push(...(await keysOf(index)));
  return found;
}
