import { button, code, link, type Mail, type MailContent, note, paragraph, quote } from './mail.ts';
import { clock, greetableName, wholeUnits, withoutLink } from './wording.ts';

function greeting(name: string): string {
  const known = greetableName(name);
  return known === undefined ? 'Hello,' : `Hello ${known},`;
}

function duration(minutes: number): string {
  const { amount, unit } = wholeUnits(minutes);
  return amount === 1 ? `1 ${unit}` : `${amount} ${unit}s`;
}

function date(moment: Date): string {
  // Unlike other output of `Intl`, the names of the months are the same in every ICU version.
  const month = moment.toLocaleString('en', { month: 'long', timeZone: 'UTC' });
  return `${moment.getUTCDate()} ${month} ${moment.getUTCFullYear()} at ${clock(moment)} UTC`;
}

const partnerReason = 'You receive this mail because you registered a shop with Dure.';
const accountReason = 'We send this mail to keep your Dure account safe.';

/** The content of a mail in English. */
export function englishContent(mail: Mail): MailContent {
  switch (mail.kind) {
    case 'verification_code':
      return {
        subject: 'Your Dure verification code',
        preheader: `Code ${mail.code}, valid for ${duration(mail.minutes)}.`,
        heading: 'Your verification code',
        blocks: [
          paragraph('Enter this code in Dure to confirm your email address.'),
          code(mail.code),
          paragraph(`The code works once and for ${duration(mail.minutes)}.`),
          ...(mail.username === undefined
            ? []
            : [
                paragraph(
                  `It confirms this address for the account with the user ID ‘${withoutLink(mail.username)}’. If that is not your user ID, do not enter the code.`,
                ),
              ]),
          note('Dure never asks for this code by phone or message. Do not share it with anyone.'),
          note(
            'If you did not ask for this, you can ignore this mail. Without the code this address stays unconfirmed.',
          ),
        ],
        reason: 'You receive this mail because Dure was asked to confirm this address.',
      };
    case 'account_exists':
      return {
        subject: 'You already have a Dure account',
        preheader: 'There is no need to sign up again: log in with the account you have.',
        heading: 'You already have an account',
        blocks: [
          paragraph(
            'Somebody asked to sign up with this email address or to confirm it, but it already belongs to a Dure account. If that was you, log in with this user ID.',
          ),
          code(mail.username),
          button('Log in', mail.loginUrl),
          link('Forgot your password? Set a new one', mail.resetUrl),
          note('If it was not you, you can ignore this mail. Nothing about your account has changed.'),
        ],
        reason: accountReason,
      };
    case 'reset_link':
      return {
        subject: 'Reset your Dure password',
        preheader: `The link works once and for ${duration(mail.minutes)}.`,
        heading: 'Reset your password',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph('If you asked to reset your password, choose a new one here.'),
          button('Choose a new password', mail.url),
          paragraph(
            `The link works once and for ${duration(mail.minutes)}. It stops working when you ask for a newer one.`,
          ),
          note(
            'If you did not ask for this, you can ignore this mail: your password stays as it is. Do not forward the link to anyone.',
          ),
        ],
        reason: accountReason,
      };
    case 'password_changed':
      return {
        subject: 'Your Dure password was changed',
        preheader: 'If it was not you, reset your password now.',
        heading: 'Your password was changed',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `The password of your Dure account was changed on ${date(mail.changedAt)}. To be safe, your other devices were logged out.`,
          ),
          paragraph('If it was you, there is nothing left to do.'),
          paragraph(
            'If it was not you, use “Forgot password” on the Dure login page now to set a new password. That logs out every device. We also advise you to change the password of this mailbox.',
          ),
        ],
        reason: accountReason,
      };
    case 'user_id':
      return {
        subject: 'Your Dure user ID',
        preheader: 'Here is the user ID you asked for.',
        heading: 'Your user ID',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph('This is the user ID of the Dure account with this email address.'),
          code(mail.username),
          note(
            'If you did not ask for this, you can ignore this mail. The user ID was sent to this mailbox only, and nothing about your account has changed.',
          ),
        ],
        reason: accountReason,
      };
    case 'partner_request_received':
      return {
        subject: `${mail.senderStoreName} sent you a partnership request`,
        preheader: `Post: ${mail.postTitle}`,
        heading: 'You have a new partnership request',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(`${mail.senderStoreName} asks for a partnership on your post “${mail.postTitle}”.`),
          quote(mail.message),
          button('View the request', mail.url),
          note('Once you have read it, you can accept or decline.'),
        ],
        reason: partnerReason,
      };
    case 'partner_request_accepted':
      return {
        subject: `${mail.receiverStoreName} accepted your partnership request`,
        preheader: `Post: ${mail.postTitle}`,
        heading: 'Your request was accepted',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `${mail.receiverStoreName} accepted your partnership request on “${mail.postTitle}”. We wish you both a good start.`,
          ),
          button('View your requests', mail.url),
        ],
        reason: partnerReason,
      };
    case 'partner_request_declined':
      return {
        subject: `${mail.receiverStoreName} declined your partnership request`,
        preheader: `Post: ${mail.postTitle}`,
        heading: 'Your request was declined',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `Unfortunately, ${mail.receiverStoreName} declined your partnership request on “${mail.postTitle}”. There are more posts by other shops on Dure.`,
          ),
          button('View your requests', mail.url),
        ],
        reason: partnerReason,
      };
  }
}
