/** What the pods of a node tell of the probes of their guests, which are those of the launchers' containers. */
import type { Container, ContainerStatus, Pod } from '../openapi/generated/types/core_v1.js';
import type { Informer } from '../controllers/runtime/informer.js';
import { computeContainer } from '../openapi/launcher/pod.js';
import type { GuestProbes } from './pod-host.js';

export function computeStatus({ status }: Pod): ContainerStatus | undefined {
  return status?.containerStatuses?.find(({ name }) => name === computeContainer);
}

/** The launcher's container. */
export const computeOf = ({ spec }: Pod): Container | undefined =>
  spec?.containers.find(({ name }) => name === computeContainer);

/** @param informer launcher pods of this node */
export function guestProbes(informer: Informer<Pod>): GuestProbes {
  return {
    isReady(uid) {
      const pod = informer.list().find(({ metadata }) => metadata.uid === uid);
      return pod !== undefined && isReady(pod);
    },
    onChange: (listener) =>
      informer.addHandler({
        update: (before, pod) => {
          if (isReady(before) !== isReady(pod)) listener(pod.metadata.uid);
        },
      }),
  };
}

const isReady = (pod: Pod): boolean => computeStatus(pod)?.ready === true;
