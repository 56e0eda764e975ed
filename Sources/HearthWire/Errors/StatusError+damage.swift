package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The member of a page or query result that lists unreadable files and folders, and the members of each entry:
/// `{"message", "path"?, "file"?}`.
package enum DamageKeys {
    package static let damaged: UTF8Key = "damaged"
    package static let message: UTF8Key = "message"
    package static let path: UTF8Key = "path"
    package static let file: UTF8Key = "file"
}

extension StatusError {
    /// Writes the members of an object that describes an unreadable file or folder: `"message"`, `"path"` and `"file"`, the last
    /// two if known.
    package func writeDamageMembers(to writer: inout JSONWriter) {
        writer.member(DamageKeys.message, message)
        if let path { writer.member(DamageKeys.path, path) }
        if let file {
            writer.key(DamageKeys.file)
            file.write(to: &writer)
        }
    }

    /// Parses an object that describes an unreadable file or folder.
    package init(damage json: JSONNode) {
        self.init(
            .dataLoss,
            json[DamageKeys.message]?.string ?? "The document cannot be read.",
            path: json[DamageKeys.path]?.string,
            file: json[DamageKeys.file].flatMap(FileLocation.init(json:))
        )
    }
}

extension JSONWriter {
    /// Writes the `damaged` member of a page or query result, unless it is empty.
    package mutating func damaged(_ errors: [StatusError]) {
        guard !errors.isEmpty else { return }
        array(DamageKeys.damaged, of: errors) { error, writer in
            writer.beginObject()
            error.writeDamageMembers(to: &writer)
            writer.endObject()
        }
    }
}

extension JSONNode {
    /// The errors in the `damaged` member of a page or query result.
    package var damaged: [StatusError] {
        self[DamageKeys.damaged]?.elements.map { $0.map(StatusError.init(damage:)) } ?? []
    }
}
