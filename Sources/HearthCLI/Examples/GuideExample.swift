import DocumentModel
import Foundation
import HearthAPI

/// The sample data from the guide to mapping Firestore data with Swift Codable: `Examples/guide.ndjson`.
///
/// Two documents have intentional errors: `numberOfPages` of `books/invalid-data` is a string, and one programming language has
/// `name` instead of `language_name`.
enum GuideExample {
    /// Reads the documents.
    ///
    /// - Parameter folder: The folder `Examples`.
    static func documents(in folder: URL) throws(StatusError) -> [ExampleDocument] {
        let file = ExampleFile(
            paths: [folder.appending(path: "guide.ndjson").path],
            remedy: "Specify the folder that contains Examples with --assets."
        )
        var documents: [ExampleDocument] = []
        try file.forEachLine { line, origin throws(StatusError) in
            let document = try DocumentExportLine(Array(line))
            documents.append(ExampleDocument(path: document.path, fields: document.fields, origin: origin))
        }
        return documents
    }
}
