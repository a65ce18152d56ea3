import { button, code, link, note, quote, timeInSeoul, type Wording, wholeUnits } from '../content.ts';

// Names and titles are followed by 님, 에서, ’ or a word of its own only, because other particles depend on the last letter.

function duration(minutes: number): string {
  const { amount, unit } = wholeUnits(minutes);
  return unit === 'hour' ? `${amount}시간` : `${amount}분`;
}

/** As `2026년 3월 5일 오전 9시 8분(한국 시간)`; midnight is 오전 12시 and noon 오후 12시, as phones in Korea show them. */
function date(moment: Date): string {
  const { year, month, day, isMorning, hour, minute } = timeInSeoul(moment);
  const time = `${isMorning ? '오전' : '오후'} ${hour}시${minute === 0 ? '' : ` ${minute}분`}`;
  return `${year}년 ${month}월 ${day}일 ${time}(한국 시간)`;
}

const loginMethods = {
  identity: '로그인 계정이',
  passkey: '패스키가',
  second_factor: '2단계 인증이',
} as const;

export const korean: Wording = {
  language: 'ko',
  brand: '두레',
  tagline: '두레 · 동네 가게들의 제휴를 이어 드립니다',
  unsubscribe: '이 종류의 메일 그만 받기',
  linkFallback: '버튼이 눌리지 않으면 아래 주소를 브라우저에 붙여 넣어 주세요.',
  accountReason: '두레 계정의 보안을 위해 보내 드리는 메일입니다.',
  partnerReason: '두레에 등록하신 가게의 제휴 소식을 알려 드리는 메일입니다.',
  greeting(name) {
    if (name === undefined) return '안녕하세요.';
    return `${name.endsWith('님') ? name : `${name}님`}, 안녕하세요.`;
  },
  mails: {
    verification_code: (mail) => ({
      subject: '[두레] 이메일 인증번호 안내',
      preheader: `인증번호 ${mail.code} · ${duration(mail.minutes)} 동안 사용할 수 있습니다.`,
      heading: '이메일 인증번호',
      blocks: [
        '아래 인증번호를 두레 화면에 입력해 주세요.',
        code(mail.code),
        '인증번호를 입력하는 대신 아래 버튼을 눌러 인증하실 수도 있습니다.',
        button('이메일 인증하기', mail.url),
        `인증번호와 링크는 ${duration(mail.minutes)} 동안, 둘 중 하나를 한 번만 사용할 수 있습니다.`,
        note(
          '두레는 전화나 메시지로 인증번호를 묻지 않습니다. 인증번호와 링크를 다른 사람에게 알려 주지 마세요.',
        ),
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 인증번호와 링크를 사용하지 않으면 이 이메일은 인증되지 않습니다.',
        ),
      ],
      reason: '두레에 이 이메일 주소의 인증 요청이 접수되어 보내 드리는 메일입니다.',
    }),
    account_exists: (mail) => ({
      subject: '[두레] 이미 가입된 이메일입니다',
      preheader: '새로 가입하지 않으셔도 기존 아이디로 로그인할 수 있습니다.',
      heading: '이미 가입된 이메일입니다',
      blocks: [
        '이 이메일 주소로 가입이나 인증 요청이 있었습니다. 이 주소는 이미 두레에 가입되어 있습니다. 직접 요청하셨다면 아래 아이디로 로그인해 주세요.',
        code(mail.username),
        button('로그인하기', mail.loginUrl),
        link('비밀번호를 잊으셨나요? 다시 설정하기', mail.resetUrl),
        note('직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 계정에는 아무런 변화가 없습니다.'),
      ],
    }),
    reset_link: (mail) => ({
      subject: '[두레] 비밀번호 재설정 안내',
      preheader: `링크는 ${duration(mail.minutes)} 동안 한 번만 사용할 수 있습니다.`,
      heading: '비밀번호 재설정',
      blocks: [
        '비밀번호 재설정을 요청하셨다면 아래에서 새 비밀번호를 설정해 주세요.',
        button('새 비밀번호 설정하기', mail.url),
        `링크는 ${duration(mail.minutes)} 동안 한 번만 사용할 수 있습니다. 새 링크를 요청하시면 이 링크는 더 이상 사용할 수 없습니다.`,
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 비밀번호는 바뀌지 않습니다. 링크를 다른 사람에게 전달하지 마세요.',
        ),
      ],
    }),
    password_changed: (mail) => ({
      subject: '[두레] 비밀번호가 변경되었습니다',
      preheader: '직접 바꾸지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요.',
      heading: '비밀번호가 변경되었습니다',
      blocks: [
        `${date(mail.changedAt)}에 두레 계정의 비밀번호가 변경되었습니다. 안전을 위해 ${mail.ended === 'all' ? '모든' : '다른'} 기기에서 로그아웃되었습니다.`,
        '직접 바꾸셨다면 따로 하실 일은 없습니다.',
        '직접 바꾸지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요. 다시 설정하시면 모든 기기에서 로그아웃됩니다. 이 이메일 계정의 비밀번호도 함께 바꾸시는 것이 좋습니다.',
        button('비밀번호 다시 설정하기', mail.url),
      ],
    }),
    login_method_changed: (mail) => {
      const changed = `${loginMethods[mail.method]} ${mail.change === 'added' ? '추가' : '삭제'}되었습니다`;
      return {
        subject: `[두레] ${changed}`,
        preheader: '직접 하지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요.',
        heading: changed,
        blocks: [
          `${date(mail.changedAt)}에 두레 계정에 로그인하는 방법이 변경되었습니다.`,
          ...(mail.label === '' ? [] : [quote(mail.label)]),
          '직접 하셨다면 따로 하실 일은 없습니다.',
          '직접 하지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요. 모든 기기에서 로그아웃됩니다. 그런 다음 두레의 ‘로그인 방법’에서 모르는 방법을 삭제해 주세요.',
          button('비밀번호 다시 설정하기', mail.url),
        ],
      };
    },
    email_changed: (mail) => ({
      subject: '[두레] 이메일 주소가 변경되었습니다',
      preheader: '직접 바꾸지 않으셨다면 지금 바로 이전 이메일로 되돌려 주세요.',
      heading: '이메일 주소가 변경되었습니다',
      blocks: [
        `${date(mail.changedAt)}에 두레 계정의 이메일이 이 주소에서 다른 주소로 변경되었습니다. 새 주소는 아래와 같으며, 일부를 가려서 보여 드립니다.`,
        code(mail.newEmail),
        '직접 바꾸셨다면 따로 하실 일은 없습니다. 앞으로 메일은 새 주소로 보내 드립니다.',
        '직접 바꾸지 않으셨다면 지금 바로 아래에서 이 주소로 되돌려 주세요. 되돌리시면 모든 기기에서 로그아웃되고, 비밀번호를 다시 설정하는 링크를 이 주소로 보내 드립니다.',
        button('이 주소로 되돌리기', mail.url),
        note('이 링크는 7일 동안 한 번만 사용할 수 있습니다. 링크를 다른 사람에게 전달하지 마세요.'),
      ],
    }),
    marketing_consent: (mail) => ({
      subject: '[두레] 광고성 정보 수신 동의 확인 안내',
      preheader: '동의하신 날짜와 동의를 유지하거나 철회하는 방법을 알려 드립니다.',
      heading: '광고성 정보 수신 동의 확인',
      blocks: [
        `${date(mail.givenAt)}에 두레에서 보내는 광고성 정보 메일의 수신에 동의하셨습니다. 정보통신망법 제50조 제8항에 따라 2년마다 동의하신 사실을 알려 드리고 수신 동의를 유지하실지 확인하고 있습니다.`,
        '계속 받으시려면 따로 하실 일은 없습니다.',
        '더 이상 받지 않으시려면 아래 계정 화면에서 언제든지 동의를 철회하실 수 있습니다.',
        button('수신 동의 확인하기', mail.url),
        note('전송자: 두레'),
      ],
      reason: '광고성 정보 수신에 동의하신 분께 2년마다 보내 드리는 메일입니다.',
    }),
    user_id: (mail) => ({
      subject: '[두레] 아이디 안내',
      preheader: '요청하신 두레 아이디를 알려 드립니다.',
      heading: '두레 아이디',
      blocks: [
        '이 이메일로 가입하신 두레 아이디입니다.',
        code(mail.username),
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 아이디는 이 메일로만 보내 드렸으며, 계정에는 아무런 변화가 없습니다.',
        ),
      ],
    }),
    partner_request_received: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴를 요청했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '새로운 제휴 요청이 도착했습니다',
      blocks: [
        `${mail.storeName}에서 ‘${mail.postTitle}’ 글을 보고 제휴를 요청했습니다.`,
        quote(mail.message),
        button('요청 확인하기', mail.url),
        note('요청을 확인하신 뒤 수락하거나 거절하실 수 있습니다.'),
      ],
    }),
    partner_request_accepted: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴 요청을 수락했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴 요청이 수락되었습니다',
      blocks: [
        `‘${mail.postTitle}’ 글에 보내신 제휴 요청을 ${mail.storeName}에서 수락했습니다. 좋은 인연으로 이어지기를 바랍니다.`,
        '이제 요청 화면에서 서로의 연락처를 확인하실 수 있습니다.',
        button('연락처 보기', mail.url),
      ],
    }),
    partner_request_declined: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴 요청을 거절했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴 요청이 거절되었습니다',
      blocks: [
        `아쉽게도 ‘${mail.postTitle}’ 글에 보내신 제휴 요청을 ${mail.storeName}에서 거절했습니다. 두레에서 다른 가게의 글도 둘러보세요.`,
        button('요청 확인하기', mail.url),
      ],
    }),
    partner_request_ended: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴를 종료했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴가 종료되었습니다',
      blocks: [
        `‘${mail.postTitle}’ 글로 맺은 제휴를 ${mail.storeName}에서 종료했습니다. 이제 두레에서 서로의 연락처가 보이지 않습니다.`,
        button('요청 확인하기', mail.url),
      ],
    }),
    saved_search_match: (mail) => ({
      subject: `[두레] ‘${mail.searchName}’ 검색에 맞는 새 글이 올라왔습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '저장하신 검색에 맞는 새 글이 올라왔습니다',
      blocks: [
        `저장하신 검색 ‘${mail.searchName}’에 맞는 새 글을 ${mail.storeName}에서 올렸습니다.`,
        quote(mail.postTitle),
        button('글 보러 가기', mail.url),
      ],
      reason: '저장한 검색의 메일 알림을 켜 두신 분께 보내 드리는 메일입니다.',
    }),
  },
};
