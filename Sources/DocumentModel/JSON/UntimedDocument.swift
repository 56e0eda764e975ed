internal import StrictJSON

/// A document file without its times: what people write, and what version control keeps.
package struct UntimedDocument: Sendable {
    /// The fields.
    package let fields: MapValue
    /// The document ID, if the file states it, because its name is shortened.
    package let id: DocumentPath.ID?

    /// Creates the contents of a file.
    package init(fields: MapValue, id: DocumentPath.ID?) {
        self.fields = fields
        self.id = id
    }

    /// Decodes a file in any layout. `$document`, or the times in it, may be missing.
    ///
    /// Does not validate the limits of a document, such as its size.
    ///
    /// - Throws: `.invalidArgument` if it is not a document.
    package init(_ bytes: [UInt8]) throws(StatusError) {
        let text: JSONText
        do throws(JSONSyntaxError) {
            text = try JSONText(bytes, limits: DocumentFile.limits)
        } catch {
            throw StatusError(.invalidArgument, "\(error)", cause: error)
        }
        do throws(ValueDecodingError) {
            try self.init(text.root)
        } catch {
            throw error.located
        }
    }

    private init(_ root: JSONNode) throws(ValueDecodingError) {
        guard let all = root.members else { throw ValueDecodingError(root, expected: "an object of fields") }
        let members = try DocumentFileMembers(all)
        fields = try members.fields(of: root)
        id = if let metadata = members.metadata { try DocumentFileMetadata.id(in: metadata) } else { nil }
    }

    /// The file in Hearth's layout, with the ID, if any, but without times.
    package var text: [UInt8] { text(metadata: DocumentFileMetadata.members(id: id, times: nil)) }

    /// Returns the file in Hearth's layout, with a time as that of its creation and update.
    package func text(at time: Timestamp) -> [UInt8] {
        text(metadata: DocumentFileMetadata.members(id: id, times: (time, time)))
    }

    private func text(metadata: DocumentFileFormatter.Metadata) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        fields.write(to: &writer)
        return DocumentFileFormatter.bytes(ofFields: writer.finish(), metadata: metadata)
    }
}
