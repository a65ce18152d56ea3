/** Two colours and how many circles: a drawing that stands for a photograph. */
export interface Drawing {
  from: string;
  to: string;
  circles: number;
}

/** What a neighbour looks for. */
interface Wish {
  title: string;
  content: string;
  drawing?: Drawing;
  /** Days until its last one. */
  closesIn?: number;
}

interface Shop {
  username: string;
  owner: string;
  store: Record<string, unknown> & { name: string; categories: string[] };
  posts: Wish[];
  /** What it is notified of. */
  searches?: ({ name: string } & Record<string, unknown>)[];
}

/** The shops of the demo: four within a walk of twenty minutes, and one elsewhere. */
export const shops: Shop[] = [
  {
    username: 'dure_cafe',
    owner: '김두레',
    store: {
      name: '두레 카페',
      categories: ['카페', '베이커리'],
      description: '망원동 골목의 작은 카페입니다.\n아침마다 스콘을 굽습니다.',
      address: '서울 마포구 망원동 12-3',
      phone_number: '02-123-4567',
      business_hours: '매일 09:00-21:00',
      location: { latitude: 37.556123, longitude: 126.902345 },
      show_exact_location: true,
    },
    searches: [{ name: '마포구의 꽃', q: '꽃', region: '마포구' }],
    posts: [
      {
        title: '꽃집과 함께 어버이날 세트를 만들고 싶습니다',
        content: '꽃다발과 케이크를 묶어 함께 팔 이웃 꽃집을 찾습니다.',
        closesIn: 14,
        drawing: { from: '#f7d9c4', to: '#b5542f', circles: 5 },
      },
      {
        title: '동네 서점과 함께하는 낭독회',
        content: '목요일 저녁에 자리를 내어 드립니다. 커피는 저희가 준비하겠습니다.',
      },
    ],
  },
  {
    username: 'golmok_flower',
    owner: '이꽃님',
    store: {
      name: '골목 꽃집',
      categories: ['꽃·식물'],
      description: '계절 꽃과 작은 화분이 있습니다.',
      address: '서울 마포구 망원동 45-6',
      phone_number: '010-2345-6789',
      business_hours: '화-일 10:00-19:00',
      location: { latitude: 37.554871, longitude: 126.904512 },
    },
    searches: [{ name: '걸어갈 만한 곳', near: '37.554871,126.904512', radius_m: 1_500 }],
    posts: [
      {
        title: '가게에 놓을 꽃을 맡겨 주세요',
        content: '매주 새 꽃으로 바꿔 드립니다. 서로의 손님께 쿠폰도 나눠 드리면 좋겠습니다.',
        drawing: { from: '#f8d3e0', to: '#2f7d4f', circles: 9 },
      },
    ],
  },
  {
    username: 'neutinamu_books',
    owner: '박책방',
    store: {
      name: '느티나무 책방',
      categories: ['서점·문구', '문화·여가'],
      description: '어린이책과 그림책을 고릅니다.',
      address: '서울 마포구 성산동 7-8',
      location: { latitude: 37.563015, longitude: 126.910221 },
    },
    posts: [
      {
        title: '카페에 작은 서가를 놓고 싶습니다',
        content: '책 서른 권을 빌려 드리고 판매 수익은 함께 나누고 싶습니다.',
      },
    ],
  },
  {
    username: 'haessal_pilates',
    owner: '최햇살',
    store: {
      name: '햇살 필라테스',
      categories: ['건강·운동'],
      address: '서울 마포구 서교동 9',
      phone_number: '010-1234-5678',
      location: { latitude: 37.552634, longitude: 126.918803 },
    },
    posts: [
      {
        title: '건강한 점심 메뉴를 함께 만들 식당을 찾습니다',
        content: '회원 120명에게 소개해 드리겠습니다.',
      },
    ],
  },
  {
    username: 'jeongja_photo',
    owner: '정사진',
    store: {
      name: '정자 사진관',
      categories: ['사진·디자인'],
      description: '가게 사진을 찍어 드립니다.',
      address: '경기 성남시 분당구 정자일로 95',
      location: { latitude: 37.359512, longitude: 127.105274 },
    },
    searches: [
      { name: '분당의 새 글', region: '분당구' },
      { name: '메뉴 사진', q: '메뉴' },
    ],
    posts: [
      {
        title: '메뉴 사진을 찍어 드리고 벽에 걸 자리를 빌립니다',
        content: '찍은 사진은 가게에서 마음껏 쓰셔도 됩니다.',
        closesIn: 0,
      },
    ],
  },
];
