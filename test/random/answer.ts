/** What the random steps read of the answers of the service. */

/** An address on a list. */
interface Entry {
  id: number;
  email_address: string;
}

/** What is read of answers; empty where an answer does not have it. */
export interface Message {
  id: number;
  utr: string;
  url: string;
  contacts: { id: number; contact_type_id: number; email: string }[];
  suppressions: Entry[];
  unSubscribers: Entry[];
  recipients: Entry[];
}

/** Of a page, for example. */
export const NOTHING: Message = {
  ...{ id: 0, utr: '', url: '' },
  ...{ contacts: [], suppressions: [], unSubscribers: [], recipients: [] },
};

/** What the service answered. */
export interface Answer {
  status: number;
  message: Message;
  text: string;
  location: string;
}
