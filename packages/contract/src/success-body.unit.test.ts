import { isSuccess } from './success-body';

describe('isSuccess', () => {
  const delivery = { status: 'delivered', attempts: 1 };

  it('takes the operation’s own status with a body of its schema', () => {
    expect(isSuccess('get_webhook', 200, delivery)).toBe(true);
  });

  it('refuses another status, another schema, and a body that is open where the contract is closed', () => {
    expect(isSuccess('get_webhook', 202, delivery)).toBe(false);
    expect(isSuccess('get_asset', 200, delivery)).toBe(false);
    expect(isSuccess('get_webhook', 200, { ...delivery, secret: 1 })).toBe(false);
  });
});
