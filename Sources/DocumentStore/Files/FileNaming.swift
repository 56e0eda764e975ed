internal import Crypto
internal import DocumentModel
internal import StrictJSON

/// How IDs become the names of files and folders, and back.
///
/// A document `a` is the file `a.json`; the collections below it are folders in the folder `a`. A name is the ID with
/// these bytes written as `%` and two hexadecimal digits, and nothing else changed:
///
/// - a dot at the beginning, so that no ID looks like `..` or like one of the store's own hidden files;
/// - `%` itself;
/// - controls, and characters that are invisible or turn the direction of writing;
/// - the dot of a folder name ending in `.json`, so that the folder of the document `a.json` is not the file of `a`;
/// - where the file system folds case or normalises Unicode: capitals, everything that is not ASCII, and punctuation
///   that such file systems refuse.
///
/// A name that would be too long is its beginning, `%~`, and 32 digits of the ID's hash; the ID itself is then kept in
/// the file, or in the folder. No two IDs have the same name.
struct FileNaming: Hashable, Sendable {
    /// Whether names also hold where the file system folds case or normalises Unicode.
    let isStrict: Bool

    /// A name, and whether the ID has to be kept elsewhere because it can't be told from the name.
    struct Name: Hashable {
        let text: String
        let isShortened: Bool
    }

    /// What a name found on disk stands for.
    enum Reading: Hashable {
        /// The ID that has this name.
        case id(UTF8Key)
        /// A shortened name: the ID is kept elsewhere.
        case shortened
        /// No ID has this name.
        case foreign
    }

    /// The name of a document's file.
    func file(of id: DocumentID) -> Name {
        let stem = stem(of: id.key)
        return Name(text: stem.text + Self.suffix, isShortened: stem.isShortened)
    }

    /// The name of a collection's folder, or of the folder of what is below a document.
    func folder(of id: UTF8Key) -> Name {
        let stem = stem(of: id)
        let dot = stem.text.utf8.count - Self.suffix.utf8.count
        guard dot >= 0, stem.text.utf8.dropFirst(dot).elementsEqual(Self.suffix.utf8) else { return stem }
        let bytes = Array(stem.text.utf8.prefix(dot)) + PercentEncoding.escape(UInt8(ascii: ".")) + Self.suffix.utf8.dropFirst()
        return Name(text: String(decoding: bytes, as: UTF8.self), isShortened: false)
    }

    /// What a file's name stands for; foreign when it does not end in `.json`.
    func read(file name: [UInt8]) -> Reading {
        guard name.count > Self.suffix.utf8.count, name.suffix(Self.suffix.utf8.count).elementsEqual(Self.suffix.utf8) else {
            return .foreign
        }
        return read(stem: name.dropLast(Self.suffix.utf8.count)) { self.stem(of: $0).text }
    }

    /// What a folder's name stands for.
    func read(folder name: [UInt8]) -> Reading {
        read(stem: name[...]) { self.folder(of: $0).text }
    }

    /// The end of every document file's name.
    static let suffix = ".json"
}

extension FileNaming {
    /// The longest name that Linux file systems hold, less the suffix.
    private static let maximumStemBytes = 255 - suffix.utf8.count
    private static let hashMark = "%~"
    private static let hashBytes = 16

    private func stem(of id: UTF8Key) -> Name {
        if id.byteCount <= Self.maximumStemBytes, isPlain(id) { return Name(text: id.string, isShortened: false) }
        let longestPrefix = Self.maximumStemBytes - Self.hashMark.utf8.count - 2 * Self.hashBytes
        var bytes: [UInt8] = []
        var cut = 0
        for (index, scalar) in id.string.unicodeScalars.enumerated() {
            if needsEscape(scalar, isFirst: index == 0) {
                for byte in scalar.utf8 { bytes += PercentEncoding.escape(byte) }
            } else {
                bytes += scalar.utf8
            }
            if bytes.count <= longestPrefix { cut = bytes.count }
        }
        if bytes.count <= Self.maximumStemBytes { return Name(text: String(decoding: bytes, as: UTF8.self), isShortened: false) }
        let hash = Hexadecimal.encode(SHA256.hash(data: Array(id.utf8)).prefix(Self.hashBytes))
        return Name(text: String(decoding: bytes[..<cut], as: UTF8.self) + Self.hashMark + hash, isShortened: true)
    }

    /// Whether the ID is its own name; true of nearly all, so this looks at bytes only.
    private func isPlain(_ id: UTF8Key) -> Bool {
        guard id.utf8.first != UInt8(ascii: ".") else { return false }
        return id.utf8.allSatisfy { byte in
            byte > 0x1f && byte < 0x7f && byte != UInt8(ascii: "%")
                && !(isStrict && Self.isAmbiguous(Unicode.Scalar(byte)))
        }
    }

    private func needsEscape(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "%": true
        case ".": isFirst
        case _ where Self.isInvisible(scalar): true
        default: isStrict && Self.isAmbiguous(scalar)
        }
    }

    /// Controls, and what is not seen or changes the direction of writing. A list of its own, because names must stay the
    /// same when Unicode grows.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f: true
        case 0xad, 0x61c, 0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb: true
        case 0xe0000...0xe007f: true
        default: false
        }
    }

    /// What a file system that folds case or normalises may hold as something else, or refuse.
    private static func isAmbiguous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "A"..."Z", "\"", "*", ":", "<", ">", "?", "\\", "|": true
        default: !scalar.isASCII
        }
    }

    private func read(stem: ArraySlice<UInt8>, name: (UTF8Key) -> String) -> Reading {
        if stem.first == UInt8(ascii: ".") { return .foreign }
        let mark = Array(Self.hashMark.utf8)
        if stem.dropLast(2 * Self.hashBytes).suffix(mark.count).elementsEqual(mark) { return .shortened }
        // Nearly all names have nothing to decode.
        let decoded = stem.contains(UInt8(ascii: "%")) ? PercentEncoding.decode(stem) : Array(stem)
        guard let bytes = decoded, let id = UTF8Key(validating: bytes) else { return .foreign }
        // Many names would decode to the same ID; only the one that the ID is given is its file.
        guard !id.utf8.isEmpty, !id.utf8.contains(UInt8(ascii: "/")), name(id).utf8.elementsEqual(stem) else { return .foreign }
        return .id(id)
    }
}
