"""The directive `proto`: the reference of one .proto file, from its comments.

```{proto} tilewarp/v1/jobs.proto
```
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from docutils import nodes
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)
from grpc_tools import protoc
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

PROTO = Path(__file__).parents[2] / "proto"
PACKAGE = ".tilewarp.v1."
# Where descriptors keep things: numbers of fields in descriptor.proto.
MESSAGES, ENUMS, SERVICES = 4, 5, 6
FIELDS, METHODS, VALUES = 2, 2, 2

# Of a thing in its file, as descriptors count.
Place = tuple[int, ...]
Comments = dict[Place, str]


class Proto(SphinxDirective):
    """The services, messages and enumerations of a file, each with its comments."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the sections of the file named by the argument."""
        name = self.arguments[0]
        self.env.note_dependency(str(PROTO / name))
        return self.parse_text_to_nodes(
            "\n".join(describe_file(read_file(name))), allow_section_headings=True
        )


def read_file(name: str) -> FileDescriptorProto:
    """Return the descriptor of a file below `proto`, its comments included."""
    with tempfile.NamedTemporaryFile() as out:
        arguments = ["", f"-I{PROTO}", f"--descriptor_set_out={out.name}", "--include_source_info"]
        includes = f"-I{Path(protoc.__file__).parent / '_proto'}"
        if protoc.main([*arguments, includes, name]):
            raise ValueError(f"{name} is no valid .proto file")
        return FileDescriptorSet.FromString(out.read()).file[0]


def describe_file(file: FileDescriptorProto) -> Iterator[str]:
    """Yield the lines of a file's reference, as Markdown below a heading of the second level."""
    comments: Comments = {
        tuple(location.path): " ".join(location.leading_comments.split())
        for location in file.source_code_info.location
    }
    for index, service in enumerate(file.service):
        yield from _service(service, (SERVICES, index), comments)
    for index, message in enumerate(file.message_type):
        yield from _message(message, (MESSAGES, index), comments)
    for index, enum in enumerate(file.enum_type):
        yield from _enum(enum, (ENUMS, index), comments)


def _service(service: ServiceDescriptorProto, place: Place, comments: Comments) -> Iterator[str]:
    yield from _heading(service.name, comments[place])
    rows = [
        (_method(method), comments[*place, METHODS, index])
        for index, method in enumerate(service.method)
    ]
    yield from _table(("call", "what it does"), rows)


def _message(message: DescriptorProto, place: Place, comments: Comments) -> Iterator[str]:
    yield from _heading(message.name, comments[place])
    rows = [
        (str(field.number), f"`{field.name}`", _type(field, message), comments[*place, FIELDS, at])
        for at, field in enumerate(message.field)
    ]
    if rows:
        yield from _table(("number", "field", "type", "what it is"), rows)


def _enum(enum: EnumDescriptorProto, place: Place, comments: Comments) -> Iterator[str]:
    yield from _heading(enum.name, comments[place])
    rows = [
        (str(value.number), f"`{value.name}`", comments[*place, VALUES, index])
        for index, value in enumerate(enum.value)
    ]
    yield from _table(("number", "name", "what it means"), rows)


def _heading(name: str, comment: str) -> Iterator[str]:
    yield from (f"(proto-{name.lower()})=", f"### {name}", "", comment, "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _method(method: MethodDescriptorProto) -> str:
    takes = "stream " * method.client_streaming + _link(method.input_type)
    gives = "stream " * method.server_streaming + _link(method.output_type)
    return f"**{method.name}** ({takes}) → {gives}"


def _type(field: FieldDescriptorProto, message: DescriptorProto) -> str:
    name = _link(field.type_name) if field.type_name else _scalar(field)
    for nested in message.nested_type:
        if nested.options.map_entry and field.type_name.endswith(f".{message.name}.{nested.name}"):
            return f"map of {_type(nested.field[0], nested)} to {_type(nested.field[1], nested)}"
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"list of {name}"
    if field.proto3_optional:
        return f"optional {name}"
    if field.HasField("oneof_index"):
        return f"{name}, or another of `{message.oneof_decl[field.oneof_index].name}`"
    return name


def _scalar(field: FieldDescriptorProto) -> str:
    return f"`{FieldDescriptorProto.Type.Name(field.type).removeprefix('TYPE_').lower()}`"


def _link(type_name: str) -> str:
    name = type_name.removeprefix(PACKAGE)
    if name == type_name:
        return f"`{type_name.removeprefix('.')}`"
    return f"[{name}](#proto-{name.lower()})"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("proto", Proto)
    return {"parallel_read_safe": True}
