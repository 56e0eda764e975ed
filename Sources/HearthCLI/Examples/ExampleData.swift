import DocumentModel
import HearthClient
import HearthService
import StrictJSON

/// The examples that `hearth example load` knows.
enum ExampleData: String, CaseIterable {
    case guide
    case places
    case colors

    /// What it is, in a line of help.
    var summary: String {
        switch self {
        case .guide: "the sample documents of the guide to mapping Firestore data with Codable: books, colors, offices, languages"
        case .places:
            "a document in places for every place of the time zone database, with its coordinates (Debian package tzdata)"
        case .colors: "a document in x11-colors for every colour name of the X Window System (Debian package x11-common)"
        }
    }

    /// Reads the example.
    ///
    /// - Throws: `.notFound` when the file that it is made from is not installed, `.dataLoss` when a line of it can't be read.
    func documents() throws(StatusError) -> [ExampleDocument] {
        switch self {
        case .guide: try GuideExample.documents()
        case .places: try PlacesExample.documents()
        case .colors: try ColorsExample.documents()
        }
    }
}

/// A document of an example, and where it comes from.
struct ExampleDocument {
    let path: DocumentPath
    let fields: MapValue
    let origin: DocumentWriter.Origin
}

/// A text file that a Debian package installs.
struct PackagedFile {
    /// Where the file may be; the first that exists is taken.
    let paths: [String]
    let package: String

    /// Calls `body` for each line, as text and with its place.
    ///
    /// - Throws: `.notFound` when there is no such file; what `body` throws, with the place before it.
    func forEachLine(_ body: (Substring.UTF8View, DocumentWriter.Origin) throws(StatusError) -> Void) throws(StatusError) {
        var lines = try open()
        while let line = try lines.next() {
            let origin = DocumentWriter.Origin(file: lines.name, line: lines.lineNumber)
            guard case .complete(let bytes) = line, let text = UTF8Key(validating: bytes) else {
                throw StatusError(.dataLoss, "\(origin): not a line of text.")
            }
            do throws(StatusError) {
                try body(text.string[...].utf8, origin)
            } catch {
                var error = error
                error.message = "\(origin): \(error.message)"
                throw error
            }
        }
    }

    private func open() throws(StatusError) -> LineReader {
        for path in paths {
            do throws(StatusError) {
                return try LineReader(path: path, maximumLineBytes: 64 << 10)
            } catch let error where error.code == .notFound {}
        }
        throw StatusError(.notFound, "There is no \(paths.joined(separator: " or ")); install the Debian package \(package).")
    }
}
