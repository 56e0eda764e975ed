import DocumentModel
import Foundation
import StrictJSON

/// What lies in a data folder, looked at without the store.
struct DiskContents {
    /// The documents by their files.
    private(set) var documents: [DocumentPath: StoreSnapshot.Version] = [:]
    /// Files that are no documents', and why.
    private(set) var damaged: [String] = []
    /// Files that were never finished, anywhere in the folder.
    private(set) var temporaries: [String] = []

    /// Reads every file. IDs must be such as stand for themselves in file names, or stand in the file.
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
            id: id.map { try DocumentID($0) },
            file: file
        )
    }

    /// The ID that a folder on the way to a file keeps because its name could not.
    private static func storedID(depth: Int, of file: String, in data: URL) throws -> String {
        let folder = file.split(separator: "/").prefix(depth + 2).joined(separator: "/")
        let bytes = try Data(contentsOf: data.appending(path: "\(folder)/.hearth-id.json"))
        return try JSONText(Array(bytes)).root["id"]?.string ?? ""
    }
}
