"""The guide on a bias gate: its workflow, its configuration and its hook are taken from the page and run."""
import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner

from biasbook.auditing.cli import main

root = Path(__file__).parent.parent
sys.path.insert(0, str(root / 'tests'))

from interface import version  # noqa: E402

PAGE = root / 'nbs' / 'bias_gate.ipynb'


# -- the page ---------------------------------------------------------------------------------------------------------

def blocks(language):
    "The fenced blocks of the page in a language."
    cells = json.loads(PAGE.read_text(encoding='utf-8'))['cells']
    text = '\n'.join(''.join(cell['source']) for cell in cells if cell['cell_type'] == 'markdown')
    return re.findall(rf'^```{language}\n(.*?)^```', text, re.M | re.S)


def file_on_page(name):
    "The text of a file that the page shows; its name is in the first line."
    found, = [block for block in blocks('yaml') if block.startswith(f'# {name}\n')]
    return found


def commands(workflow):
    "The commands of the workflow, without the installation."
    steps, = [job['steps'] for job in workflow['jobs'].values()]
    found = [step['run'] for step in steps if 'run' in step]
    assert found[0] == f'pip install git+https://github.com/biasbook/biasbook@v{version()}'        # so that a later version changes no build
    return found[1:]


@pytest.fixture(scope='module')
def repository(tmp_path_factory):
    "A repository as the page describes it, with the command on the path."
    folder = tmp_path_factory.mktemp('repository')
    for name in ('bias', 'bin', 'cache'):
        (folder / name).mkdir()
    (folder / 'bias' / 'audit.yaml').write_text(file_on_page('bias/audit.yaml'), encoding='utf-8')
    command = folder / 'bin' / 'biasbook'
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m biasbook "$@"\n')
    command.chmod(0o755)
    accept, = blocks('sh')
    first, second = accept.strip().split('\n')
    assert second == 'git add bias' and run_here(folder, first).returncode == 0
    return folder


def run(folder, command):
    "Run a command as GitHub Actions does."
    env = {**os.environ, 'PATH': f'{folder / "bin"}{os.pathsep}{os.environ["PATH"]}', 'BIASBOOK_CACHE_DIR': str(folder / 'cache'),
           'BIASBOOK_DATA_DIR': '', 'PYTHONPATH': str(root)}
    done = subprocess.run(['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', command], cwd=folder, env=env,
                          capture_output=True, text=True, timeout=600)
    assert 'Traceback' not in done.stderr, done.stderr
    return done


def run_here(folder, command):
    "Run a command of biasbook in this process, where its shell is not what is tested."
    program, *arguments = shlex.split(command.replace('\\\n', ' '))
    assert program == 'biasbook'
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv('BIASBOOK_CACHE_DIR', str(folder / 'cache'))
        patch.setenv('BIASBOOK_DATA_DIR', '')
        patch.setattr('biasbook.auditing.figures.FIGURES', 1)              # figures take most of the time of a report
        done = CliRunner().invoke(main, arguments, prog_name='biasbook')
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


def test_workflow_is_complete():
    workflow = yaml.safe_load(file_on_page('.github/workflows/bias.yaml'))
    assert set(workflow) == {'name', True, 'permissions', 'jobs'} and set(workflow[True]) == {'pull_request', 'push'}   # `on` is a truth in YAML
    for job in workflow['jobs'].values():
        assert {'runs-on', 'steps', 'timeout-minutes'} <= set(job)
        for step in job['steps']:
            assert ('run' in step) != ('uses' in step)
            assert 'uses' not in step or re.fullmatch(r'actions/[\w-]+@v\d+\.\d+\.\d+', step['uses'])


def messages(err):
    "What was printed to stderr, without the lines about progress."
    return ''.join(line for line in err.splitlines(keepends=True) if not line.startswith('audit: '))


def test_commands_of_the_workflow(repository):
    check, compare = commands(yaml.safe_load(file_on_page('.github/workflows/bias.yaml')))
    done = run(repository, check)
    assert (done.returncode, messages(done.stderr)) == (0, '') and 'Limits: 4 within' in done.stdout and '::error' not in done.stdout
    assert len(ET.parse(repository / 'limits.xml').getroot().findall('.//testcase')) == 4
    done = run_here(repository, compare)
    assert (done.returncode, messages(done.stderr)) == (0, '') and 'Limits: 2 within' in done.stdout
    assert len(ET.parse(repository / 'changes.xml').getroot().findall('.//testcase')) == 2
    assert {p.name for p in (repository / 'bias-audit').iterdir()} == {'report.html', 'results.csv', 'results.json', 'results.md',
                                                                       'results.tex'}


def with_limits(repository, *limits):
    "The first command of the workflow, for the configuration with other limits and fewer tests."
    config = yaml.safe_load(file_on_page('bias/audit.yaml'))
    config.update(limits=list(limits), out='other', measures=['weat'], only=['weat3', 'weat7'])
    (repository / 'bias' / 'other.yaml').write_text(yaml.safe_dump(config), encoding='utf-8')
    check, _ = commands(yaml.safe_load(file_on_page('.github/workflows/bias.yaml')))
    return run_here(repository, check.replace('bias/audit.yaml', 'bias/other.yaml'))


def test_exit_codes_of_the_gate(repository):
    exceeded = with_limits(repository, 'weat7: abs(value) <= .5', 'weat6: value < 1')          # weat6 is not chosen
    assert exceeded.returncode == 1 and '\n::error title=' in exceeded.stdout and '\n::warning title=' in exceeded.stdout
    assert with_limits(repository, 'weat3: not stands_out').returncode == 3
    assert json.loads((repository / 'other' / 'results.json').read_text())['about']['limits'][0]['limit'] == 'weat3: not stands_out'
    assert with_limits(repository, 'weat33: value < 1').returncode == 2
    wrong = with_limits(repository, 'weat3: vlue < 1')
    assert wrong.returncode == 2 and 'did you mean value?' in wrong.stderr and wrong.stdout == ''


def test_moved_values_stop_the_build(repository):
    data = json.loads((repository / 'bias' / 'accepted' / 'results.json').read_text(encoding='utf-8'))
    gap = next(r for r in data['results'] if r['metric'] == 'occupation gap r')
    gap['value'] -= .2
    (repository / 'moved').mkdir()
    (repository / 'moved' / 'results.json').write_text(json.dumps(data), encoding='utf-8')
    _, compare = commands(yaml.safe_load(file_on_page('.github/workflows/bias.yaml')))
    done = run_here(repository, compare.replace('bias/accepted', 'moved'))
    assert done.returncode == 1 and '1 within, 1 exceeded' in done.stdout and '::error' in done.stdout
    data['results'].append({**gap, 'query': 'another one'})
    (repository / 'moved' / 'results.json').write_text(json.dumps(data), encoding='utf-8')
    done = run_here(repository, compare.replace('bias/accepted', 'moved').replace('<= .05', '<= .5'))
    assert done.returncode == 3 and 'not measured' in done.stdout


def test_gitlab_has_the_same_command(repository):
    job = yaml.safe_load(file_on_page('.gitlab-ci.yml'))['bias gate']
    install, check = job['script']
    assert install.startswith('pip install') and run_here(repository, check).returncode == 0
    assert (repository / job['artifacts']['reports']['junit']).exists()


# -- pre-commit -------------------------------------------------------------------------------------------------------

def test_hook_metadata():
    hook, = yaml.safe_load((root / '.pre-commit-hooks.yaml').read_text(encoding='utf-8'))
    assert {'id', 'name', 'description', 'entry', 'language', 'pass_filenames'} <= set(hook)
    assert (hook['id'], hook['name'], hook['entry']) == ('biasbook-audit', 'biasbook audit', 'biasbook audit')
    assert hook['language'] == 'python' and hook['pass_filenames'] is False


def test_hook_on_the_page(repository):
    hook, = yaml.safe_load((root / '.pre-commit-hooks.yaml').read_text(encoding='utf-8'))
    repo, = yaml.safe_load(file_on_page('.pre-commit-config.yaml'))['repos']
    used, = repo['hooks']
    assert used['id'] == hook['id'] and re.compile(used['files']).match('bias/audit.yaml')
    done = run_here(repository, ' '.join([hook['entry'], *used['args']]))
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


# -- help -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('command', ['audit', 'compare'])
def test_help_has_the_exit_codes(repository, command):
    text = run(repository, f'biasbook {command} --help').stdout
    assert 'Exit codes:' in text and re.findall(r'^ +([0-3])  \w', text, re.M) == ['0', '1', '2', '3']
    assert all(option in text for option in ('--limit', '--junit', '--github'))


@pytest.mark.parametrize('command', ['rank', 'check'])
def test_help_of_commands_without_limits_has_the_exit_codes(repository, command):
    text = run(repository, f'biasbook {command} --help').stdout
    assert 'Exit codes:' in text and re.findall(r'^ +([0-3])  \w', text, re.M) == ['0', '1', '2', '3'] and '--case' in text


def test_page_has_the_same_exit_codes():
    for page in (PAGE, root / 'nbs' / 'auditing' / '11_cli.ipynb'):
        cells = json.loads(page.read_text(encoding='utf-8'))['cells']
        table, = [''.join(c['source']) for c in cells if '| 130, 143 |' in ''.join(c['source'])]
        assert re.findall(r'^\| ([\d, ]+) \|', table, re.M) == ['0', '1', '2', '3', '130, 143'], page
