/** Publishes the data that nodes need for public pages: content of mailings, images, and the link secrets. */
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Db } from '../../database/open.ts';
import { linkSecrets } from '../../delivery/links/secrets.ts';
import { PreferenceStore } from '../../pages/preferences.ts';
import { putObject } from '../bucket.ts';
import { LINKS_KEY, type LinkSecrets, mailingObjectName } from '../feedback-messages.ts';
import { BUCKET } from '../streams.ts';

/** SQL for the public ids of the images in the frozen content of a mailing. */
const PICTURES_OF_MAILING = `
  SELECT p.public_id FROM picture_uses u JOIN pictures p ON p.id = u.picture_id
  WHERE u.kind = 'sent_mail' AND u.owner_id = ?`;

/** SQL over `mailings`: true if their mails have public pages. Mails that verify a sender or confirm a subscription have none. */
const HAS_PAGES = "owner_kind NOT IN ('system', 'form')";

export class Content {
  readonly #db: Db;
  readonly #publicUrl: () => string;
  readonly #values: Kvm;
  /** The secrets as last published, as JSON. */
  #links = '';
  /** The last mailing that was new at an earlier call of `refresh`; null before the first call. */
  #newest: number | null = null;

  constructor(connection: NatsConnection, db: Db, publicUrl: () => string) {
    this.#values = new Kvm(connection);
    this.#db = db;
    this.#publicUrl = publicUrl;
  }

  /** Call it when NATS has lost its data: the next `refresh` publishes everything again. */
  forget(): void {
    this.#links = '';
    this.#newest = null;
  }

  /** Publishes the link secrets if they have changed since the last call, and mailings that are new since then. */
  async refresh(): Promise<void> {
    const client = this.#db.$client;
    const links: LinkSecrets = { secrets: linkSecrets(client), publicUrl: this.#publicUrl() };
    const text = JSON.stringify(links);
    if (text !== this.#links) {
      const bucket = await this.#values.open(BUCKET.secrets);
      await bucket.put(LINKS_KEY, text);
      this.#links = text;
    }
    const ids = client
      .prepare<[number], number>(
        this.#newest === null
          ? `SELECT id FROM mailings WHERE finished_at IS NULL AND id > ? AND ${HAS_PAGES} ORDER BY id`
          : `SELECT id FROM mailings WHERE id > ? AND ${HAS_PAGES} ORDER BY id`,
      )
      .pluck()
      .all(this.#newest ?? 0);
    for (const id of ids) await this.putMailing(id);
    const last = client.prepare<[], number>('SELECT ifnull(max(id), 0) FROM mailings').pluck().get() ?? 0;
    this.#newest = this.#newest === null ? last : Math.max(this.#newest, ids.at(-1) ?? 0);
  }

  /**
   * Publishes the content of a mailing, unless it is already published. Returns false if there is no such mailing. Mails whose link proves
   * ownership of a mailbox are not published, because every node could open that link.
   */
  async putMailing(id: number): Promise<boolean> {
    const bucket = await this.#values.open(BUCKET.content);
    const name = mailingObjectName(id);
    if (await hasObject(bucket, name)) return true;
    const row = this.#db.$client
      .prepare<[number], { user_id: number; unsubscribe_group_id: number | null; content: string }>(
        `SELECT user_id, unsubscribe_group_id, content FROM mailings WHERE id = ? AND ${HAS_PAGES}`,
      )
      .get(id);
    if (row === undefined) return false;
    // The ids of images are those recorded for the mailing. Its HTML may contain any number of ids that do not exist.
    const pictures = this.#db.$client.prepare<[number], string>(PICTURES_OF_MAILING).pluck().all(id);
    for (const picture of pictures) await this.putPicture(picture);
    const ids = {
      delivery: 0,
      mailing: id,
      address: 0,
      group: row.unsubscribe_group_id ?? 0,
      user: row.user_id,
      email: '',
    };
    const { groups } = new PreferenceStore(this.#db).read(ids);
    // The stored content is JSON, so it is not parsed here.
    const text = `{"user":${row.user_id},"groups":${JSON.stringify(groups)},"frozen":${row.content}}`;
    await putObject(bucket, name, { bytes: new TextEncoder().encode(text), facts: {} });
    return true;
  }

  /** Publishes an image, unless it is already published. Returns false if there is no such image. */
  async putPicture(publicId: string): Promise<boolean> {
    const client = this.#db.$client;
    const facts = client
      .prepare<[string], { hash: string; kind: string }>('SELECT hash, kind FROM pictures WHERE public_id = ?')
      .get(publicId);
    if (facts === undefined) return false;
    const bucket = await this.#values.open(BUCKET.pictures);
    if (await hasObject(bucket, publicId)) return true;
    const parts = client
      .prepare<[string], Buffer>('SELECT bytes FROM picture_parts WHERE public_id = ? ORDER BY number')
      .pluck()
      .all(publicId);
    await putObject(bucket, publicId, { bytes: Buffer.concat(parts), facts });
    return true;
  }
}

async function hasObject(bucket: KV, name: string): Promise<boolean> {
  return (await bucket.get(name)) !== null;
}
