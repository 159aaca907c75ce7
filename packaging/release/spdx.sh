#!/bin/sh
# What a release consists of, as SPDX 2.3 in JSON: spdx.sh VERSION PART...
# A PART is an installed Debian package: its licences are those that its copyright file names, in the machine-readable form if
# it has that, otherwise as a reference to that file. Or it is NAME=VERSION, the source of a Debian package that was compiled
# into the page or the program for Windows. Times are SOURCE_DATE_EPOCH.
set -eu
version=$1
shift
created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)

# An element: element ID NAME VERSION LICENCE SUPPLIER COMMENT
element() {
    printf '    {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "licenseDeclared": "%s",\n' "$1" "$2" "$3" "$4"
    printf '     "licenseConcluded": "NOASSERTION", "supplier": "%s", "comment": "%s",\n' "$5" "$6"
    printf '     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "copyrightText": "NOASSERTION"}'
}

# The names of licences in a copyright file, as its author wrote them.
licences() {
    sed -n 's/^License: *\([^ ].*\)$/\1/p' "/usr/share/doc/$1/copyright" | tr -d '"\\\t' | sort -u | paste -s -d ';' | sed 's/;/; /g'
}

cat <<HEAD
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "decoderscope-$version",
  "documentNamespace": "https://example.org/decoderscope/$version/spdx/$SOURCE_DATE_EPOCH",
  "creationInfo": {"created": "$created", "creators": ["Organization: The Decoderscope authors"]},
  "packages": [
HEAD
element decoderscope decoderscope "$version" MIT "Organization: The Decoderscope authors" "the program"
for part in "$@"; do
    printf ',\n'
    case $part in
    *=*)
        element "${part%%=*}" "${part%%=*}" "${part#*=}" NOASSERTION "Organization: Debian" \
            "compiled from its source. Its licence is named in THIRD_PARTY_LICENSES.md"
        ;;
    *)
        said=$(licences "$part")
        element "$part" "$part" "$(dpkg-query --show --showformat='${Version}' "$part")" NOASSERTION \
            "Organization: Debian" "${said:+licences named in its copyright file: $said. }Its text is in licences/$part.txt"
        ;;
    esac
done
printf '\n  ],\n  "relationships": [\n'
printf '    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-decoderscope"}'
for part in "$@"; do
    printf ',\n    {"spdxElementId": "SPDXRef-decoderscope", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-%s"}' "${part%%=*}"
done
printf '\n  ]\n}\n'
