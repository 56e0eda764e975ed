internal import DocumentModel
internal import StrictJSON

/// What an entry of a folder in `documents/` is to Hearth, as far as its name and kind tell.
///
/// Some things lie beside documents in ordinary life and can't be taken for one. They are left alone, and not mentioned:
///
/// - what has a name that begins with a dot: the store's own files, and those of version control, editors and systems
///   (`.git`, `.DS_Store`, `.b.json.swp`);
/// - files whose names don't end in `.json`: notes, a `README`, the backups of editors (`b.json~`).
///
/// Whatever else Hearth can't take as its own is foreign: it stays on disk untouched, and is reported where it would be
/// listed. Folders without any of this, and without documents, are neither.
enum FolderEntry {
    /// A document's file; the ID is nil where the name is shortened.
    case document(DocumentID?)
    /// The folder of a collection, or of what is below a document; the ID is nil where the name is shortened.
    case folder(UTF8Key?)
    /// Nothing that can be here: what is wrong, and what to do.
    case foreign(String)
    /// Nothing of Hearth's.
    case ignored

    /// What the entries of a folder are.
    enum Level {
        /// Files of documents, and folders of what is below them.
        case collection
        /// Folders of collections.
        case belowDocument
    }

    init(_ name: [UInt8], _ kind: FileStatus.Kind, at level: Level, naming: FileNaming) {
        if name.first == UInt8(ascii: ".") {
            self = .ignored
        } else if let fault = Self.fault(of: kind, isNamedAsDocument: name.hasDocumentSuffix) {
            self = .foreign(fault)
        } else if kind == .folder {
            self = Self.folder(naming.read(folder: name), at: level)
        } else if name.hasDocumentSuffix {
            self = Self.file(naming.read(file: name), at: level)
        } else {
            self = .ignored
        }
    }

    /// What is wrong with an entry whatever its name and place; nil for files, and for folders that are not named as files.
    static func fault(of kind: FileStatus.Kind, isNamedAsDocument: Bool) -> String? {
        switch kind {
        case .symbolicLink:
            "It is a symbolic link, and Hearth follows none. Put what it leads to in its place, or move it out of the data folder."
        case .other:
            "It is a socket, a pipe or a device, and no document. Move it out of the data folder."
        case .folder where isNamedAsDocument:
            "It is a folder, and only documents' files have names that end in .json. Rename it, or move it out of the data folder."
        case .file, .folder:
            nil
        }
    }
}

extension FolderEntry {
    private static func file(_ name: FileNaming.Reading, at level: Level) -> FolderEntry {
        guard level == .collection else {
            return .foreign(
                "A document's file can't be here: documents are in the folders of collections. Move it into one, or out of the data "
                    + "folder."
            )
        }
        switch name {
        case .foreign: return .foreign("No document's file has this name. \(renaming)")
        case .shortened: return .document(nil)
        case .id(let key):
            do throws(StatusError) {
                return .document(try DocumentID(key.string))
            } catch {
                return .foreign("No document can have the name of this file: \(error.message) \(renaming)")
            }
        }
    }

    private static func folder(_ name: FileNaming.Reading, at level: Level) -> FolderEntry {
        switch name {
        case .foreign: return .foreign("No document's or collection's folder has this name. \(renaming)")
        case .shortened: return .folder(nil)
        case .id(let key):
            do throws(StatusError) {
                switch level {
                case .collection: _ = try DocumentID(key.string)
                case .belowDocument: _ = try CollectionID(key.string)
                }
                return .folder(key)
            } catch {
                let what = level == .collection ? "document" : "collection"
                return .foreign("No \(what) can have the name of this folder: \(error.message) \(renaming)")
            }
        }
    }

    /// What to do about a name.
    static let renaming = "Rename it, or move it out of the data folder."
}

extension [UInt8] {
    fileprivate var hasDocumentSuffix: Bool {
        suffix(FileNaming.suffix.utf8.count).elementsEqual(FileNaming.suffix.utf8)
    }
}
