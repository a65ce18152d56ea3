/** Every mail of the service, with all that its text depends on. */
export type Mail =
  | { kind: 'verification_code'; code: string; url: string; minutes: number }
  | { kind: 'account_exists'; username: string; loginUrl: string; resetUrl: string }
  | { kind: 'reset_link'; name: string; url: string; minutes: number }
  | { kind: 'password_changed'; name: string; changedAt: Date }
  | {
      kind: 'email_changed';
      name: string;
      /** Masked. */
      newEmail: string;
      changedAt: Date;
      /** Undoes the change. */
      url: string;
    }
  | { kind: 'user_id'; name: string; username: string }
  | {
      kind: 'partner_request_received';
      name: string;
      senderStoreName: string;
      postTitle: string;
      message: string;
      url: string;
    }
  | {
      kind: 'partner_request_accepted' | 'partner_request_declined';
      name: string;
      receiverStoreName: string;
      postTitle: string;
      url: string;
    }
  | {
      kind: 'partner_request_ended';
      name: string;
      /** The store that ended the partnership. */
      otherStoreName: string;
      postTitle: string;
      url: string;
    };

/** One part of a mail. Both text and HTML are rendered from it. */
export type Block =
  | { type: 'paragraph'; text: string }
  /** Less important than a paragraph, and smaller. */
  | { type: 'note'; text: string }
  /** What to copy: a code or a user id. */
  | { type: 'code'; value: string }
  /** The main action. */
  | { type: 'button'; label: string; url: string }
  /** A second action, less prominent than the button. */
  | { type: 'link'; label: string; url: string }
  /** Text that another user wrote. The only block that keeps its line feeds. */
  | { type: 'quote'; text: string };

/** The texts around the content of a mail. */
export interface FrameWording {
  language: string;
  brand: string;
  tagline: string;
  /** The link that switches such mails off. */
  unsubscribe: string;
  /** Shown above the URL under a button. */
  linkFallback: string;
}

/** The content of a mail in one language, before it is rendered as text and HTML. */
export interface MailContent {
  subject: string;
  /** Shown by mail clients beside the subject. */
  preheader: string;
  heading: string;
  blocks: Block[];
  /** Why the recipient got this mail. */
  reason: string;
}

export const paragraph = (text: string): Block => ({ type: 'paragraph', text });
export const note = (text: string): Block => ({ type: 'note', text });
export const code = (value: string): Block => ({ type: 'code', value });
export const button = (label: string, url: string): Block => ({ type: 'button', label, url });
export const link = (label: string, url: string): Block => ({ type: 'link', label, url });
export const quote = (text: string): Block => ({ type: 'quote', text });
