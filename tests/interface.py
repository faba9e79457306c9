"""The public interface as data: `python tests/interface.py --write` saves it as tests/interface/VERSION.json.

It has what the page about stability promises to keep within a minor version: the public names with their parameters, the commands
with their options, the schema of the study file, and the fields of results.json. The file of a version that has been released, as
its tag in git shows, is never written again: raise the version in settings.ini first."""
import argparse
import dataclasses
import inspect
import json
import subprocess
import sys
from configparser import ConfigParser
from functools import cached_property
from pathlib import Path

import click

import biasbook as bb
from biasbook.auditing.cli import main as command_line
from biasbook.auditing.files import SCHEMA_VERSION
from biasbook.results.result import Result, Words
from biasbook.stats.estimate import Estimate, HypothesisTest, Interval, Note, Units

root = Path(__file__).resolve().parent.parent
SAVED_CLASSES = (Result, Words, Estimate, HypothesisTest, Interval, Units, Note)        # their fields are in results.json


def version():
    "The version in settings.ini."
    config = ConfigParser(delimiters=['='])
    config.read(root / 'settings.ini', encoding='utf-8')
    return config['DEFAULT']['version']


def snapshot_path(of_version):
    "Where the interface of a version is kept."
    return root / 'tests' / 'interface' / f'{of_version}.json'


def parameter_text(parameter):
    "A parameter with its kind and its default, without its annotation: '*, level=0.95'."
    star = {inspect.Parameter.VAR_POSITIONAL: '*', inspect.Parameter.VAR_KEYWORD: '**'}.get(parameter.kind, '')
    only_by_keyword = '*, ' if parameter.kind is inspect.Parameter.KEYWORD_ONLY else ''
    default = '' if parameter.default is inspect.Parameter.empty else f'={default_text(parameter.default)}'
    return f'{only_by_keyword}{star}{parameter.name}{default}'


def default_text(value):
    "A default as text that is the same in each process: a function by its name, an object of another kind by its class."
    if isinstance(value, (str, int, float, bool, tuple, list, dict, type(None))):
        return repr(value)
    if value is dataclasses.MISSING or type(value).__name__ == '_HAS_DEFAULT_FACTORY_CLASS':
        return '(made anew)'
    return getattr(value, '__qualname__', type(value).__qualname__)


def parameters_of(named):
    "The parameters of a function, or of making an object of a class."
    parameters = inspect.signature(named).parameters.values()
    return [parameter_text(parameter) for parameter in parameters if not parameter.name.startswith('_')]


def methods_of(named):
    "The public methods and properties that biasbook defines for a class, with the parameters of the methods."
    found = {}
    own_classes = [of_class for of_class in named.__mro__ if of_class.__module__.startswith('biasbook')]
    for name in sorted({name for of_class in own_classes for name in vars(of_class) if not name.startswith('_')}):
        member = inspect.getattr_static(named, name)
        if isinstance(member, property | cached_property):
            found[name] = 'property'
        elif inspect.isroutine(member):
            found[name] = parameters_of(getattr(named, name))
    return found


def python_names():
    "The public names with their parameters; classes with their methods too."
    found = {}
    for name in sorted(set(bb.__all__) - {'__version__', 'measures'}):
        named = getattr(bb, name)
        if inspect.isclass(named):
            found[name] = {'parameters': parameters_of(named), 'methods': methods_of(named)}
        else:
            found[name] = {'parameters': parameters_of(named)}
    return found


def commands():
    "The options and arguments of each command."
    context = click.Context(command_line)
    found = {}
    for name in command_line.list_commands(context):
        command = command_line.get_command(context, name)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found[f'{name} {inner}'] = options_of(command.get_command(context, inner))
        else:
            found[name] = options_of(command)
    return found


def options_of(command):
    "What a command takes: '--out', 'SUBJECTS'."
    names = []
    for parameter in command.params:
        is_option = isinstance(parameter, click.Option)
        names += [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.name.upper()]
    return sorted(names)


def results_file():
    "The schema version of results.json, and the fields of the classes in it."
    fields = {of_class.__name__: [field.name for field in dataclasses.fields(of_class)] for of_class in SAVED_CLASSES}
    return {'schema_version': SCHEMA_VERSION, **fields}


def interface():
    "The public interface of this checkout."
    return {'python': python_names(), 'commands': commands(), 'study file': bb.study_schema(), 'results.json': results_file()}


def differences(before, now, place=''):
    "Lines about what differs between two nested mappings: 'python, weat, parameters: … → …'."
    if before == now:
        return []
    if not isinstance(before, dict) or not isinstance(now, dict):
        return [f'{place}: {before} → {now}']
    lines = []
    for key in sorted({*before, *now}):
        inner = f'{place}, {key}' if place else key
        if key not in now:
            lines.append(f'{inner}: gone')
        elif key not in before:
            lines.append(f'{inner}: new')
        else:
            lines += differences(before[key], now[key], inner)
    return lines


def is_released(of_version):
    "Whether git has the tag of this version."
    tags = subprocess.run(['git', 'tag', '--list', f'v{of_version}'], cwd=root, capture_output=True, text=True, check=True).stdout
    return bool(tags.strip())


def write():
    "Save the interface of this version."
    path = snapshot_path(version())
    now = interface()
    if path.exists() and is_released(version()) and json.loads(path.read_text(encoding='utf-8')) != now:
        sys.exit(f'version {version()} is released, so its interface stays as it is; raise the version in settings.ini first')
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(now, indent=1, ensure_ascii=False, sort_keys=True) + '\n', encoding='utf-8')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--write', action='store_true', help='save the interface of this version')
    if parser.parse_args().write:
        write()
    else:
        saved = json.loads(snapshot_path(version()).read_text(encoding='utf-8'))
        print('\n'.join(differences(saved, interface())) or 'nothing differs')
