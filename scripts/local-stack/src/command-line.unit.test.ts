import { Command } from 'commander';
import { runProgram } from './command-line';

describe('a program that fails', () => {
  it('says why on the error output, without what a terminal obeys', async () => {
    const { exitCode } = process;
    const write = jest.spyOn(process.stderr, 'write');
    const said = new Promise((resolve) =>
      write.mockImplementation((text) => {
        resolve(text);
        return true;
      }),
    );
    const fail = (): never => {
      throw new Error('a hub answered \u009b31m\u001b[2Jso\nwith advice');
    };
    runProgram(new Command('models').argument('[words...]').allowUnknownOption().action(fail));
    expect(await said).toBe('models: a hub answered \ufffd31m\ufffd[2Jso\nwith advice\n');
    expect(process.exitCode).toBe(1);
    write.mockRestore();
    process.exitCode = exitCode;
  });
});
