internal import DocumentModel
internal import StorageIO
internal import UTF8Text

/// The classification of a folder entry in `documents/` by its name and type.
///
/// Entries that cannot be confused with documents are ignored:
///
/// - names that begin with a dot: the store's own files, and those of version control, editors and operating systems (`.git`,
///   `.DS_Store`, `.b.json.swp`);
/// - files whose names don't end in `.json`: notes, a `README`, editor backups (`b.json~`).
///
/// Any other unexpected entry is foreign: it is left untouched, and reported in listings. Folders without documents are neither
/// ignored nor foreign.
enum FolderEntry {
    /// A document file; the ID is `nil` if the name is shortened.
    case document(DocumentPath.ID?)
    /// The folder of a collection or of a document's subcollections; the ID is `nil` if the name is shortened.
    case folder(UTF8Key?)
    /// An unexpected entry, with a message that says what is wrong and what to do.
    case foreign(String)
    /// An entry that is ignored.
    case ignored

    /// The level of a folder in the hierarchy.
    enum Level {
        /// A collection: document files, and folders of their subcollections.
        case collection
        /// The subcollections of a document, or the root collections: collection folders.
        case belowDocument
    }

    init(_ name: UnsafeBufferPointer<UInt8>, _ kind: FileStatus.Kind, at level: Level, naming: FileNaming) {
        if kind == .file, level == .collection, let id = naming.plainID(ofFile: name).flatMap(DocumentPath.ID.init(plain:)) {
            self = .document(id)
        } else if name.first == UInt8(ascii: ".") {
            self = .ignored
        } else if let message = Self.typeError(of: kind, isNamedAsDocument: name.hasDocumentSuffix) {
            self = .foreign(message)
        } else if kind == .folder {
            self = Self.folder(naming.parse(folder: Array(name)), at: level)
        } else if name.hasDocumentSuffix {
            self = Self.file(naming.parse(file: Array(name)), at: level)
        } else {
            self = .ignored
        }
    }

    /// Returns the message for an entry that is unexpected because of its type, or `nil` for files and normal folders.
    static func typeError(of kind: FileStatus.Kind, isNamedAsDocument: Bool) -> String? {
        switch kind {
        case .symbolicLink:
            "It is a symbolic link, which Hearth doesn't follow. Replace it with its target, or move it out of the data folder."
        case .other:
            "It is a socket, a pipe or a device, not a document. Move it out of the data folder."
        case .folder where isNamedAsDocument:
            "It is a folder, but only document files have names that end in .json. Rename it, or move it out of the data folder."
        case .file, .folder:
            nil
        }
    }
}

extension FolderEntry {
    private static func file(_ name: FileNaming.ParsedName, at level: Level) -> FolderEntry {
        guard level == .collection else {
            return .foreign(
                "A document file cannot be here: documents are in the folders of collections. Move it into one, or out of the data "
                    + "folder."
            )
        }
        switch name {
        case .foreign: return .foreign("The file name is not the name of any document. \(renameHint)")
        case .shortened: return .document(nil)
        case .id(let key):
            do throws(StatusError) {
                return .document(try DocumentPath.ID(key.string))
            } catch {
                return .foreign("The file name is not a valid document ID: \(error.message) \(renameHint)")
            }
        }
    }

    private static func folder(_ name: FileNaming.ParsedName, at level: Level) -> FolderEntry {
        switch name {
        case .foreign: return .foreign("The folder name is not the name of any document or collection. \(renameHint)")
        case .shortened: return .folder(nil)
        case .id(let key):
            do throws(StatusError) {
                switch level {
                case .collection: _ = try DocumentPath.ID(key.string)
                case .belowDocument: _ = try CollectionID(key.string)
                }
                return .folder(key)
            } catch {
                let what = level == .collection ? "document" : "collection"
                return .foreign("The folder name is not a valid \(what) ID: \(error.message) \(renameHint)")
            }
        }
    }

    /// The advice for an invalid name.
    static let renameHint = "Rename it, or move it out of the data folder."
}
