/** The labels by which a volume, or what it is made from, says which instancetype and preference suit it. */
import type {
  DataVolumeSource,
  DataVolumeSourceRef,
  DataVolumeSpec,
} from '../../../openapi/generated/types/kubevirt_cdi_v1beta1.js';
import type { VirtualMachine, Volume } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { AdmissionLookups } from '../interface.js';

type Labels = Readonly<Record<string, string>>;

export type LabelSearch =
  /** Labels of the first object on the way that has the one that is looked for. */
  | { readonly kind: 'found'; readonly labels: Labels }
  /** `ignorable`: the volume says nothing; else what it refers to is not there. */
  | { readonly kind: 'failed'; readonly why: string; readonly ignorable: boolean };

interface DataVolume extends KubernetesObject {
  readonly spec?: DataVolumeSpec;
}

/** As much of a CDI DataSource as matters here. */
export interface DataSource extends KubernetesObject {
  readonly spec?: {
    readonly source?: Pick<DataVolumeSource, 'pvc' | 'snapshot'> & {
      readonly dataSource?: { readonly name: string; readonly namespace?: string };
    };
  };
}

const cdi = 'cdi.kubevirt.io';
const quote = (text: string): string => JSON.stringify(text);
const silent = (why: string): LabelSearch => ({ kind: 'failed', why, ignorable: true });

export function findDataSource(
  lookups: AdmissionLookups,
  namespace: string | undefined,
  name: string,
): Promise<DataSource | undefined> {
  return lookups.get<DataSource>(cdi, 'datasources', namespace, name);
}

/** Follows a volume of one VM to an object with the label `wanted`. */
export class VolumeLabels {
  constructor(
    private readonly vm: VirtualMachine,
    private readonly wanted: string,
    private readonly lookups: AdmissionLookups,
  ) {}

  async ofVolume(name: string): Promise<LabelSearch> {
    const volumes = this.vm.spec.template.spec?.volumes ?? [];
    const volume = volumes.find((each) => each.name === name);
    if (volume !== undefined) return this.#ofSource(volume);
    const known = volumes.map((each) => quote(each.name)).join(', ');
    const why = `the template has no volume ${quote(name)}${known === '' ? '' : `, only ${known}`}`;
    return { kind: 'failed', why, ignorable: false };
  }

  #ofSource({ name, persistentVolumeClaim, dataVolume }: Volume): Promise<LabelSearch> | LabelSearch {
    if (persistentVolumeClaim !== undefined)
      return this.#ofClaim(persistentVolumeClaim.claimName, this.#namespace);
    if (dataVolume !== undefined) return this.#ofDataVolume(dataVolume.name);
    return silent(`volume ${quote(name)} is neither a persistentVolumeClaim nor a dataVolume`);
  }

  get #namespace(): string | undefined {
    return this.vm.metadata.namespace;
  }

  async #ofClaim(name: string, namespace: string | undefined): Promise<LabelSearch> {
    const claim = await this.lookups.get('', 'persistentvolumeclaims', namespace, name);
    return this.#ofObject(claim, 'PersistentVolumeClaim', name, namespace);
  }

  async #ofSnapshot(name: string, namespace: string | undefined): Promise<LabelSearch> {
    const snapshot = await this.lookups.get('snapshot.storage.k8s.io', 'volumesnapshots', namespace, name);
    return this.#ofObject(snapshot, 'VolumeSnapshot', name, namespace);
  }

  #ofObject(
    object: KubernetesObject | undefined,
    kind: string,
    name: string,
    namespace: string | undefined,
  ): LabelSearch {
    const where = `${kind} ${quote(name)} in namespace ${quote(namespace ?? '')}`;
    if (object === undefined) return { kind: 'failed', why: `${where} not found`, ignorable: false };
    return this.#labelled(object) ?? silent(`${where} has no label ${this.wanted}`);
  }

  #labelled({ metadata: { labels = {} } }: KubernetesObject): LabelSearch | undefined {
    return labels[this.wanted] === undefined ? undefined : { kind: 'found', labels };
  }

  async #ofDataVolume(name: string): Promise<LabelSearch> {
    const template = this.vm.spec.dataVolumeTemplates?.find((each) => each.metadata.name === name);
    if (template !== undefined) return this.#ofDataVolumeSpec(template.spec);
    const stored = await this.lookups.get<DataVolume>(cdi, 'datavolumes', this.#namespace, name);
    // A DataVolume may be collected once its claim, which has its name, is filled.
    if (stored === undefined) return this.#ofClaim(name, this.#namespace);
    return this.#labelled(stored) ?? this.#ofDataVolumeSpec(stored.spec);
  }

  #ofDataVolumeSpec(spec: DataVolumeSpec | undefined): Promise<LabelSearch> | LabelSearch {
    return (
      this.#ofOrigin(spec?.source) ??
      (spec?.sourceRef === undefined
        ? silent('its DataVolume is filled neither from a claim, a snapshot nor a DataSource')
        : this.#ofReference(spec.sourceRef))
    );
  }

  #ofOrigin(
    source: Pick<DataVolumeSource, 'pvc' | 'snapshot'> | undefined,
  ): Promise<LabelSearch> | undefined {
    const { pvc, snapshot } = source ?? {};
    if (pvc !== undefined) return this.#ofClaim(pvc.name, pvc.namespace);
    return snapshot === undefined ? undefined : this.#ofSnapshot(snapshot.name, snapshot.namespace);
  }

  async #ofReference({ kind, name, namespace }: DataVolumeSourceRef): Promise<LabelSearch> {
    if (kind !== 'DataSource') return silent(`its DataVolume is filled from a ${kind}, not a DataSource`);
    const from = namespace ?? this.#namespace;
    const source = await findDataSource(this.lookups, from, name);
    if (source === undefined) return this.#ofObject(undefined, kind, name, from);
    return (
      this.#labelled(source) ??
      this.#ofOrigin(source.spec?.source) ??
      silent(`DataSource ${quote(name)} names neither a claim nor a snapshot`)
    );
  }
}
