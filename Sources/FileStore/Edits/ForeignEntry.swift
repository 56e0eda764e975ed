internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import UTF8Text

/// An entry of a folder of documents that may be neither a document nor a folder of documents, such as a symbolic link.
struct ForeignEntry: Hashable, Sendable {
    /// The place of the folder.
    let location: DocumentLocation
    /// The name of the entry, which need not be UTF-8.
    let name: [UInt8]

    /// The name for people, on one line: control characters and bytes that are not UTF-8 are escaped as `\xFF`, and then backslashes as
    /// well.
    var displayName: String {
        let text = String(decoding: name, as: UTF8.self)
        let isPlain = text.utf8.elementsEqual(name) && !text.unicodeScalars.contains(where: Self.isControl)
        if isPlain { return text }
        var escaped = ""
        var rest = name[...]
        while let byte = rest.first {
            // A scalar has at most four bytes.
            let scalar = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self)?.unicodeScalars.first }
                .first
            if let scalar, !Self.isControl(scalar) {
                escaped += scalar == "\\" ? "\\\\" : String(scalar)
                rest = rest.dropFirst(scalar.utf8.count)
            } else {
                escaped += "\\x" + Hexadecimal.encode([byte]).uppercased()
                rest = rest.dropFirst()
            }
        }
        return escaped
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension DocumentFolders {
    /// Describes what is wrong with an entry; `nil` if it is a document, a folder of documents or ignored, or if it is gone.
    func fault(of entry: ForeignEntry) throws(StatusError) -> String? {
        guard let folder = try open(entry.location.segments) else { return nil }
        let status = try reporting("get the status of", filePath(of: entry)) { () throws(FileSystemError) in
            try folder.status(of: entry.name)
        }
        guard let status else { return nil }
        let classified = entry.name.withUnsafeBufferPointer {
            FolderEntry($0, status.kind, at: entry.location.level, naming: naming)
        }
        return if case .foreign(let fault) = classified { fault } else { nil }
    }

    /// Returns the path of an entry in the data folder.
    func filePath(of entry: ForeignEntry) -> String {
        folderPath(entry.location.segments) + "/" + entry.displayName
    }
}
