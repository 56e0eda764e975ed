import Foundation
import HearthClient

@main
struct Main {
    static let usage = """
        usage: list [--offline] [COMMAND]

          list              shows the list
          list add TEXT     adds an item
          list done TEXT    marks the items with this text as done
          list remove TEXT  removes the items with this text
          list watch        shows the list at every change, and what the server refuses, until Ctrl-C
          list status       tells what waits for the server, and what it has refused

        With --offline, the server is not asked: changes wait for the next run without it.
        HEARTH_SERVER is the server, such as http://127.0.0.1:8080, and HEARTH_KEY the key. LIST_CACHE is a folder for the
        cache: one for each person who tries the program on one computer.
        """

    static func main() async {
        var words = CommandLine.arguments.dropFirst()
        let isOffline = words.first == "--offline"
        if isOffline { words.removeFirst() }
        let command = words.popFirst() ?? "show"
        let text = words.joined(separator: " ")

        let list = SharedList(cache: ProcessInfo.processInfo.environment["LIST_CACHE"].map { URL(filePath: $0) })
        do {
            if isOffline { try await list.db.disableNetwork() }
            switch (command, text.isEmpty) {
            case ("show", true):
                output(try await list.show())
            case ("add", false):
                try await list.add(text)
                output("Added: \(text)")
            case ("done", false):
                output("Done: \(try await list.finish(text))")
            case ("remove", false):
                output("Removed: \(try await list.remove(text))")
            case ("watch", true):
                try await watch(list)
            case ("status", true):
                return try await showStatus(of: list, isOffline)
            default:
                output(usage)
                exit(64)
            }
            if !isOffline { try await list.synchronize(within: .seconds(3)) }
            try await list.db.terminate()
        } catch {
            output("list: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// Shows the list, and what the server refuses.
    private static func watch(_ list: SharedList) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await list.watch { output("\n" + $0) } }
            group.addTask { try await list.watch(list.refusals, areSeen: true) { output($0) } }
            try await group.waitForAll()
        }
    }

    /// Shows the state of the queue after sending what it has, and what the server has refused.
    private static func showStatus(of list: SharedList, _ isOffline: Bool) async throws {
        let refusals = list.refusals
        async let shown: Void = list.watch(refusals, areSeen: false) { output($0) }
        if !isOffline { try await list.synchronize(within: .seconds(3)) }
        output(try await list.status())
        // Ends the refusals.
        try await list.db.terminate()
        try await shown
    }

    /// Writes a text at once, also into a pipe.
    private static func output(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
