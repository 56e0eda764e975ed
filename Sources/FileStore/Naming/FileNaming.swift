import Cryptography
internal import DocumentModel
internal import UTF8Text

/// The mapping between IDs and the names of files and folders.
///
/// A document `a` is the file `a.json`; its subcollections are folders in the folder `a`. A name is the ID with the following
/// bytes percent-encoded:
///
/// - a leading dot, so that no ID looks like `..` or a hidden file of the store;
/// - `%`;
/// - control, invisible and bidirectional characters;
/// - the dot of a folder name that ends in `.json`, so that the folder of the document `a.json` is not the file of `a`;
/// - with strict naming, for file systems that fold case or normalize Unicode: uppercase letters, all non-ASCII characters, and
///   punctuation that such file systems reject.
///
/// A name over the length limit is shortened to a prefix, `%~` and 32 digits of the ID's hash, and the ID is stored in the file
/// or folder. The mapping is injective.
struct FileNaming: Hashable, Sendable {
    /// True if names are safe on file systems that fold case or normalize Unicode.
    let isStrict: Bool

    /// A file or folder name. If it is shortened, the ID is stored in the file or folder.
    struct Name: Hashable {
        let text: String
        let isShortened: Bool
    }

    /// The meaning of a file or folder name.
    enum ParsedName: Hashable {
        /// The name of an ID.
        case id(UTF8Key)
        /// A shortened name, with the ID stored elsewhere.
        case shortened
        /// Not the name of any ID.
        case foreign
    }

    /// Returns the name of a document's file.
    func file(of id: DocumentPath.ID) -> Name {
        let stem = stem(of: id.key)
        return Name(text: stem.text + Self.suffix, isShortened: stem.isShortened)
    }

    /// Returns the name of a collection's folder, or of the folder of a document's subcollections.
    func folder(of id: UTF8Key) -> Name {
        let stem = stem(of: id)
        let dot = stem.text.utf8.count - Self.suffix.utf8.count
        guard dot >= 0, stem.text.utf8.dropFirst(dot).elementsEqual(Self.suffix.utf8) else { return stem }
        let bytes = Array(stem.text.utf8.prefix(dot)) + PercentEncoding.escape(UInt8(ascii: ".")) + Self.suffix.utf8.dropFirst()
        return Name(text: String(decoding: bytes, as: UTF8.self), isShortened: false)
    }

    /// Returns whether the name of a document's file is shortened.
    func isShortened(_ id: DocumentPath.ID) -> Bool {
        // Escaping triples the length at most.
        id.key.byteCount > Self.maximumStemBytes / 3 && file(of: id).isShortened
    }

    /// Returns the ID in a file name, if ``DocumentPath/ID/init(plain:)`` accepts it, and it is not escaped; `nil` for any other
    /// name, which ``parse(file:)`` parses. Nearly all files have such names.
    func plainID(ofFile name: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        let length = name.count - Self.suffix.utf8.count
        guard length > 0, length <= Self.maximumStemBytes, name.hasDocumentSuffix,
            name[0] != UInt8(ascii: "."), name[0] != UInt8(ascii: "_")
        else { return nil }
        let stem = UnsafeBufferPointer(rebasing: name[..<length])
        return stem.allSatisfy(isWrittenAsItIs) ? stem : nil
    }

    /// Parses a file name; foreign if it doesn't end in `.json`.
    func parse(file name: [UInt8]) -> ParsedName {
        guard name.count > Self.suffix.utf8.count, name.withUnsafeBufferPointer(\.hasDocumentSuffix) else { return .foreign }
        return parse(stem: name.dropLast(Self.suffix.utf8.count)) { self.stem(of: $0).text }
    }

    /// Parses a folder name.
    func parse(folder name: [UInt8]) -> ParsedName {
        parse(stem: name[...]) { self.folder(of: $0).text }
    }

    /// The suffix of document file names.
    static let suffix = ".json"
}

extension FileNaming {
    /// The maximum length of a name on Linux file systems, without the suffix.
    private static let maximumStemBytes = 255 - suffix.utf8.count
    private static let hashSeparator = "%~"
    private static let hashBytes = 16

    private func stem(of id: UTF8Key) -> Name {
        if id.byteCount <= Self.maximumStemBytes, needsNoEscaping(id) { return Name(text: id.string, isShortened: false) }
        let longestPrefix = Self.maximumStemBytes - Self.hashSeparator.utf8.count - 2 * Self.hashBytes
        var bytes: [UInt8] = []
        var prefixLength = 0
        for (index, scalar) in id.string.unicodeScalars.enumerated() {
            if needsEscape(scalar, isFirst: index == 0) {
                for byte in scalar.utf8 { bytes += PercentEncoding.escape(byte) }
            } else {
                bytes += scalar.utf8
            }
            if bytes.count <= longestPrefix { prefixLength = bytes.count }
        }
        if bytes.count <= Self.maximumStemBytes { return Name(text: String(decoding: bytes, as: UTF8.self), isShortened: false) }
        let hash = Hexadecimal.encode(SHA256.digest(of: Array(id.utf8)).prefix(Self.hashBytes))
        return Name(text: String(decoding: bytes[..<prefixLength], as: UTF8.self) + Self.hashSeparator + hash, isShortened: true)
    }

    /// Returns whether the ID needs no escaping. A fast path over bytes, which covers nearly all IDs.
    private func needsNoEscaping(_ id: UTF8Key) -> Bool {
        id.withBytes { $0.first != UInt8(ascii: ".") && $0.allSatisfy(isWrittenAsItIs) }
    }

    /// Returns whether a byte other than a leading dot is a character of its own, and is not escaped.
    private func isWrittenAsItIs(_ byte: UInt8) -> Bool {
        byte > 0x1f && byte < 0x7f && byte != UInt8(ascii: "%") && !(isStrict && Self.isAmbiguous(Unicode.Scalar(byte)))
    }

    private func needsEscape(_ scalar: Unicode.Scalar, isFirst: Bool) -> Bool {
        switch scalar {
        case "%": true
        case ".": isFirst
        case _ where Self.isInvisible(scalar): true
        default: isStrict && Self.isAmbiguous(scalar)
        }
    }

    /// Returns whether a scalar is a control, invisible or bidirectional character. A fixed list, because names must not change with
    /// new Unicode versions.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1f, 0x7f...0x9f: true
        case 0xad, 0x61c, 0x180e, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff, 0xfff9...0xfffb: true
        case 0xe0000...0xe007f: true
        default: false
        }
    }

    /// Returns whether a file system that folds case or normalizes Unicode may change or reject a scalar.
    private static func isAmbiguous(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "A"..."Z", "\"", "*", ":", "<", ">", "?", "\\", "|": true
        default: !scalar.isASCII
        }
    }

    private func parse(stem: ArraySlice<UInt8>, name: (UTF8Key) -> String) -> ParsedName {
        if stem.first == UInt8(ascii: ".") { return .foreign }
        let separator = Array(Self.hashSeparator.utf8)
        if stem.dropLast(2 * Self.hashBytes).suffix(separator.count).elementsEqual(separator) { return .shortened }
        // Nearly all names need no decoding.
        let decoded = stem.contains(UInt8(ascii: "%")) ? PercentEncoding.decode(stem) : Array(stem)
        guard let bytes = decoded, let id = UTF8Key(validating: bytes) else { return .foreign }
        // Several names decode to the same ID; only its canonical name is valid.
        guard !id.utf8.isEmpty, !id.utf8.contains(UInt8(ascii: "/")), name(id).utf8.elementsEqual(stem) else { return .foreign }
        return .id(id)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if a file name ends as those of documents do.
    var hasDocumentSuffix: Bool { suffix(FileNaming.suffix.utf8.count).elementsEqual(FileNaming.suffix.utf8) }
}
