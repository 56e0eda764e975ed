import ArgumentParser

/// `hearth rules`
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "Check, test, deploy and show security rules.",
        subcommands: [Check.self, Test.self, Deploy.self, Show.self]
    )
}
