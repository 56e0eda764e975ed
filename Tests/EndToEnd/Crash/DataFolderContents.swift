import DocumentModel
import Foundation
import StrictJSON
import UTF8Text

/// The contents of a data folder, read without the store.
struct DataFolderContents {
    /// The documents in the document files.
    private(set) var documents: [DocumentPath: StoreSnapshot.Version] = [:]
    /// Errors for files that are not valid documents.
    private(set) var damaged: [String] = []
    /// The temporary files in the folder.
    private(set) var temporaries: [String] = []

    /// Reads all files. IDs must be valid file names, or stored in the file.
    init(of data: URL) throws {
        let files = try FileManager.default.subpathsOfDirectory(atPath: data.path)
        for file in files {
            let name = file.split(separator: "/").last ?? ""
            if name.hasPrefix("."), name.hasSuffix(".tmp") { temporaries.append(file) }
        }
        for file in files where file.hasPrefix("documents/") && file.hasSuffix(".json") && !file.hasSuffix("/.hearth-id.json") {
            do {
                let document = try Self.document(in: file, of: data)
                documents[document.path] = StoreSnapshot.Version(document)
            } catch {
                damaged.append("\(file): \(error)")
            }
        }
    }

    private static func document(in file: String, of data: URL) throws -> Document {
        let segments = file.dropFirst("documents/".count).dropLast(".json".count).split(separator: "/")
        let folders = try segments.dropLast().enumerated().map { depth, segment in
            segment.contains("%~") ? try storedID(depth: depth, of: file, in: data) : String(segment)
        }
        let id = segments.last.flatMap { $0.contains("%~") ? nil : String($0) }
        return try DocumentFile.decode(
            Array(try Data(contentsOf: data.appending(path: file))),
            in: CollectionPath(folders.joined(separator: "/")),
            id: id.map { try DocumentPath.ID($0) },
            file: file
        )
    }

    /// Returns the ID stored in a folder whose name is too long for the file system.
    private static func storedID(depth: Int, of file: String, in data: URL) throws -> String {
        let folder = file.split(separator: "/").prefix(depth + 2).joined(separator: "/")
        let bytes = try Data(contentsOf: data.appending(path: "\(folder)/.hearth-id.json"))
        return try JSONText(Array(bytes)).root["id"]?.string ?? ""
    }
}
