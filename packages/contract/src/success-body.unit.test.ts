import { isSuccess } from './success-body';

describe('isSuccess', () => {
  const delivery = { status: 'delivered', attempts: 1 };

  it('accepts the operation’s own status with a body of its schema', () => {
    expect(isSuccess('get_webhook', 200, delivery)).toBe(true);
  });

  it('refuses another status, another schema, and a body with extra properties where the contract allows none', () => {
    expect(isSuccess('get_webhook', 202, delivery)).toBe(false);
    expect(isSuccess('get_asset', 200, delivery)).toBe(false);
    expect(isSuccess('get_webhook', 200, { ...delivery, secret: 1 })).toBe(false);
  });
});
