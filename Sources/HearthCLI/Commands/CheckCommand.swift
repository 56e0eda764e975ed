import ArgumentParser
import DocumentModel
import DocumentStore
import Foundation
import Logging
import StrictJSON

/// `hearth check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read everything in a data folder, and say what is wrong with it.",
        discussion: """
            Compares every document's file with the rules, with the journal and with the index, and prints a line for each thing that is not as \
            it should be, then what it has looked at. No server may have the folder open, and nothing in it is changed.

            With --repair, a database that was not closed is brought to where its journal says it was, and unfinished files are \
            removed, and the index is made anew; then it is checked again. Damaged documents are never touched: mend or move \
            them yourself. Documents that were edited in their files are noted, and are no fault; but the index doesn't know \
            of it, so queries don't find what was edited before a repair.

            All databases of the folder are looked at, or the one that --database names; the counts are those of all together.

            Exits with 1 when something is wrong.
            """
    )

    @Option(help: ArgumentHelp("The data folder.", valueName: "dir"), completion: .directory)
    var data = "data"

    @Option(help: ArgumentHelp("Only this database, as databases.list names it, or (default).", valueName: "name"))
    var database: String?

    @Flag(help: "Repair what can be repaired without losing anything that a person wrote.")
    var repair = false

    @Flag(help: "Print each finding as a JSON object on a line, and the summary as the last one.")
    var json = false

    func validate() throws {
        do throws(StatusError) {
            _ = try databaseID
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        let show = { @Sendable [json] (finding: CheckFinding) in
            print(json ? String(decoding: finding.json, as: UTF8.self) : finding.text)
        }
        let report =
            if let id = try databaseID {
                try await CheckedDatabase.named(id, DatabaseFolders.open(inFolder: data)).examine(repairing: repair, show)
            } else {
                try await examineAll(show)
            }
        print(json ? String(decoding: report.json, as: UTF8.self) : "\(report.text)")
        guard report.findings == 0 else { throw ExitCode.failure }
    }

    /// Checks the default database and, unless only that is wanted, all others. One that can't be opened is a finding.
    private func examineAll(_ show: @escaping @Sendable (CheckFinding) -> Void) async throws -> CheckReport {
        var report = try await CheckedDatabase.standard(data).examine(repairing: repair, show)
        guard database == nil else { return report }
        let folders = try await DatabaseFolders.open(inFolder: data)
        for id in try await folders.all() {
            do {
                report += try await CheckedDatabase.named(id, folders).examine(repairing: repair, show)
            } catch let error as StatusError {
                show(folders.finding(error, of: id))
                report.findings += 1
            }
        }
        return report
    }

    /// The database to check; nil for the default one, and for all.
    private var databaseID: DatabaseID? {
        get throws(StatusError) {
            guard let database, UTF8Key(database) != DatabaseID.defaultDatabase else { return nil }
            let id = try DatabaseID(database, inProject: DatabaseID.standard.project)
            return id == .standard ? nil : id
        }
    }
}

extension CheckFinding {
    /// One line for a person.
    fileprivate var text: String {
        let what = StatusError(.dataLoss, message, path: path, file: file).description
        return "\(kind.rawValue): \(what.dropFirst("\(StatusCode.dataLoss.name): ".count))"
    }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("kind")
        writer.string(kind.rawValue)
        writer.key("message")
        writer.string(message)
        if let path {
            writer.key("path")
            writer.string(path)
        }
        if let database {
            writer.key("database")
            writer.string(database.description)
        }
        writer.key("file")
        writer.string(file.path)
        if let line = file.line, let column = file.column {
            writer.key("line")
            writer.integer(Int64(line))
            writer.key("column")
            writer.integer(Int64(column))
        }
        writer.endObject()
        return writer.finish()
    }
}

extension CheckReport {
    fileprivate var text: String {
        let found = findings == 0 ? "nothing is wrong" : findings == 1 ? "1 finding" : "\(findings) findings"
        let noted = notices == 0 ? "" : ", \(notices) edited documents"
        return "\(documents) documents in \(collections) collections, \(documentBytes) bytes; "
            + "\(commits) commits in \(segments) journal segments, \(journalBytes) bytes: \(found)\(noted)"
    }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, count) in counts {
            writer.key(name)
            writer.integer(Int64(count))
        }
        writer.endObject()
        return writer.finish()
    }

    private var counts: [(UTF8Key, Int)] {
        [
            ("documents", documents), ("collections", collections), ("documentBytes", documentBytes), ("segments", segments),
            ("commits", commits), ("journalBytes", journalBytes), ("findings", findings), ("notices", notices),
        ]
    }
}
