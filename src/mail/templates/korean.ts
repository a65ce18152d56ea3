import { button, code, link, type Mail, type MailContent, note, paragraph, quote } from './mail.ts';
import { clock, greetableName, inSeoul, wholeUnits, withoutLink } from './wording.ts';

// Names and titles are followed by 님, 에서, 에 or a colon only, because other particles depend on the last letter.

function greeting(name: string): string {
  const known = greetableName(name);
  return known === undefined ? '안녕하세요.' : `${known}님, 안녕하세요.`;
}

function duration(minutes: number): string {
  const { amount, unit } = wholeUnits(minutes);
  return unit === 'hour' ? `${amount}시간` : `${amount}분`;
}

function date(moment: Date): string {
  const seoul = inSeoul(moment);
  return `${seoul.getUTCFullYear()}년 ${seoul.getUTCMonth() + 1}월 ${seoul.getUTCDate()}일 ${clock(seoul)}(한국 시간, KST)`;
}

const partnerReason = '두레에 등록한 가게의 제휴 소식을 알려 드리는 메일이에요.';
const accountReason = '두레 계정의 보안을 위해 보내 드리는 메일이에요.';

/** The content of a mail in Korean. */
export function koreanContent(mail: Mail): MailContent {
  switch (mail.kind) {
    case 'verification_code':
      return {
        subject: '[두레] 이메일 인증번호 안내',
        preheader: `인증번호 ${mail.code} · ${duration(mail.minutes)} 동안 쓸 수 있어요.`,
        heading: '이메일 인증번호',
        blocks: [
          paragraph('아래 인증번호를 두레 화면에 입력해 주세요.'),
          code(mail.code),
          paragraph(`인증번호는 ${duration(mail.minutes)} 동안 한 번만 쓸 수 있어요.`),
          ...(mail.username === undefined
            ? []
            : [
                paragraph(
                  `이 인증번호를 입력하면 아이디 ‘${withoutLink(mail.username)}’ 계정의 이메일이 인증됩니다. 본인의 아이디가 아니면 입력하지 마세요.`,
                ),
              ]),
          note('두레는 전화나 메시지로 인증번호를 묻지 않아요. 다른 사람에게 알려 주지 마세요.'),
          note(
            '직접 요청하지 않았다면 이 메일을 무시하셔도 돼요. 인증번호를 입력하지 않으면 이 이메일은 인증되지 않아요.',
          ),
        ],
        reason: '두레에서 이 이메일 주소의 인증을 요청받아 보내 드리는 메일이에요.',
      };
    case 'account_exists':
      return {
        subject: '[두레] 이미 가입된 이메일이에요',
        preheader: '새로 가입하지 않아도 기존 아이디로 로그인할 수 있어요.',
        heading: '이미 두레 회원이에요',
        blocks: [
          paragraph(
            '이 이메일 주소로 가입이나 인증 요청이 있었지만, 이미 만들어진 두레 계정이 있어요. 직접 요청하셨다면 아래 아이디로 로그인해 주세요.',
          ),
          code(mail.username),
          button('로그인하기', mail.loginUrl),
          link('비밀번호가 기억나지 않는다면 다시 설정하기', mail.resetUrl),
          note('직접 요청하지 않았다면 이 메일을 무시하셔도 돼요. 계정은 아무것도 바뀌지 않았어요.'),
        ],
        reason: accountReason,
      };
    case 'reset_link':
      return {
        subject: '[두레] 비밀번호 재설정 안내',
        preheader: `링크는 ${duration(mail.minutes)} 동안 한 번만 쓸 수 있어요.`,
        heading: '비밀번호 재설정',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(`비밀번호 재설정을 요청하셨다면 아래 버튼을 눌러 새 비밀번호를 정해 주세요.`),
          button('새 비밀번호 정하기', mail.url),
          paragraph(
            `링크는 ${duration(mail.minutes)} 동안 한 번만 쓸 수 있고, 새 링크를 요청하면 이 링크는 쓸 수 없게 돼요.`,
          ),
          note(
            '직접 요청하지 않았다면 이 메일을 무시하셔도 돼요. 비밀번호는 그대로예요. 링크를 다른 사람에게 전달하지 마세요.',
          ),
        ],
        reason: accountReason,
      };
    case 'password_changed':
      return {
        subject: '[두레] 비밀번호가 변경되었어요',
        preheader: '직접 바꾸지 않았다면 지금 바로 비밀번호를 다시 설정해 주세요.',
        heading: '비밀번호가 변경되었어요',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `${date(mail.changedAt)}에 두레 계정의 비밀번호가 변경되었어요. 안전을 위해 다른 기기에서는 로그아웃되었어요.`,
          ),
          paragraph('직접 바꾸셨다면 따로 하실 일은 없어요.'),
          paragraph(
            '직접 바꾸지 않았다면 지금 바로 두레 로그인 화면의 ‘비밀번호 찾기’에서 비밀번호를 다시 설정해 주세요. 다시 설정하면 모든 기기에서 로그아웃돼요. 이 이메일 계정의 비밀번호도 함께 바꾸시기를 권해요.',
          ),
        ],
        reason: accountReason,
      };
    case 'user_id':
      return {
        subject: '[두레] 아이디 안내',
        preheader: '요청하신 두레 아이디를 알려 드려요.',
        heading: '두레 아이디',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(`이 이메일로 가입하신 두레 아이디예요.`),
          code(mail.username),
          note(
            '직접 요청하지 않았다면 이 메일을 무시하셔도 돼요. 아이디는 이 메일로만 보내 드렸고, 계정은 아무것도 바뀌지 않았어요.',
          ),
        ],
        reason: accountReason,
      };
    case 'partner_request_received':
      return {
        subject: `[두레] ${mail.senderStoreName}에서 제휴를 요청했어요`,
        preheader: `글 제목: ${mail.postTitle}`,
        heading: '새로운 제휴 요청이 왔어요',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(`${mail.senderStoreName}에서 ‘${mail.postTitle}’ 글에 제휴를 요청했어요.`),
          quote(mail.message),
          button('요청 확인하기', mail.url),
          note('요청을 확인한 뒤 수락하거나 거절할 수 있어요.'),
        ],
        reason: partnerReason,
      };
    case 'partner_request_accepted':
      return {
        subject: `[두레] ${mail.receiverStoreName}에서 제휴 요청을 수락했어요`,
        preheader: `글 제목: ${mail.postTitle}`,
        heading: '제휴 요청이 수락되었어요',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `${mail.receiverStoreName}에서 ‘${mail.postTitle}’ 글에 보내신 제휴 요청을 수락했어요. 좋은 인연이 되기를 바라요.`,
          ),
          button('요청 내역 보기', mail.url),
        ],
        reason: partnerReason,
      };
    case 'partner_request_declined':
      return {
        subject: `[두레] ${mail.receiverStoreName}에서 제휴 요청을 거절했어요`,
        preheader: `글 제목: ${mail.postTitle}`,
        heading: '제휴 요청이 거절되었어요',
        blocks: [
          paragraph(greeting(mail.name)),
          paragraph(
            `아쉽지만 ${mail.receiverStoreName}에서 ‘${mail.postTitle}’ 글에 보내신 제휴 요청을 거절했어요. 두레에서 다른 가게의 글도 둘러보세요.`,
          ),
          button('요청 내역 보기', mail.url),
        ],
        reason: partnerReason,
      };
  }
}
