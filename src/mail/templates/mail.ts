/** Every mail the service sends, with all that its text depends on. */
export type Mail =
  | { kind: 'verification_code'; code: string; minutes: number }
  | { kind: 'account_exists'; username: string; loginUrl: string; resetUrl: string }
  | { kind: 'reset_link'; name: string; url: string; minutes: number }
  | { kind: 'password_changed'; name: string; changedAt: Date }
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
      kind: 'partner_request_accepted';
      name: string;
      receiverStoreName: string;
      postTitle: string;
      url: string;
    }
  | {
      kind: 'partner_request_declined';
      name: string;
      receiverStoreName: string;
      postTitle: string;
      url: string;
    };

/** One part of a mail; the text and the HTML are both made from it. */
export type Block =
  | { type: 'paragraph'; text: string }
  /** What to do if the mail was not expected, how long something holds: smaller than a paragraph. */
  | { type: 'note'; text: string }
  /** The one thing to copy: a code or a user id. */
  | { type: 'code'; value: string }
  /** The one thing to press. */
  | { type: 'button'; label: string; url: string }
  /** A second way, less prominent than the button. */
  | { type: 'link'; label: string; url: string }
  /** Text that another user wrote; the only block that keeps its line feeds. */
  | { type: 'quote'; text: string };

/** What a mail says in one language, before it becomes text or HTML. */
export interface MailContent {
  subject: string;
  /** Shown by mail clients beside the subject. */
  preheader: string;
  heading: string;
  blocks: Block[];
  /** Why the receiver got this mail. */
  reason: string;
}
