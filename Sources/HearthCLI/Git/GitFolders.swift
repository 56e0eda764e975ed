import DocumentModel
import Foundation

/// The folders of documents in a data folder: one for each database.
struct GitFolders {
    /// The paths, that of the default database first.
    let paths: [String]

    /// - Throws: `.failedPrecondition` if it is not a data folder.
    init(inDataFolder path: String) throws(StatusError) {
        guard Self.isDatabase(path) else {
            throw StatusError(.failedPrecondition, "\(path) is not a data folder. Name it with --data.")
        }
        let databases = "\(path)/databases"
        let names = Self.names(in: databases).flatMap { project in
            Self.names(in: "\(databases)/\(project)").map { "\(databases)/\(project)/\($0)" }
        }
        paths = ([path] + names.filter(Self.isDatabase)).map { "\($0)/documents" }
    }

    private static func isDatabase(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/hearth.json")
    }

    /// Names that begin with a dot are temporary.
    private static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { !$0.hasPrefix(".") }.sorted()
    }
}
