import ArgumentParser
import Configuration
import DocumentModel
import Foundation

/// The settings of a server from all sources: options, environment variables, and a configuration file, in this order.
struct ServeConfiguration: Sendable {
    /// The source of a setting.
    enum Source: Sendable, Equatable, CustomStringConvertible {
        case option(String)
        case variable(String)
        case file(path: String, line: Int)
        case standard

        var description: String {
            switch self {
            case .option(let name): name
            case .variable(let name): name
            case .file(let path, let line): "\(path), line \(line)"
            case .standard: "default"
            }
        }
    }

    /// The arguments of `hearth serve` for the settings of all sources.
    let arguments: [String]
    /// The sources of the settings that are set, by name.
    private let sources: [String: Source]

    /// Reads the configuration file and the environment, for the arguments of `hearth serve`. Blocks.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid file or variable, with its location; an error for a file that cannot
    ///   be read.
    init(arguments: [String], environment: [String: String]) throws(StatusError) {
        let path = Self.optionValue("--config", in: arguments) ?? environment["HEARTH_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        try self.init(
            arguments: arguments,
            environment: environment,
            file: try path.map { path throws(StatusError) in try ConfigurationFile(readingFrom: path) }
        )
    }

    /// Merges the settings of all sources.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid variable.
    init(arguments: [String], environment: [String: String], file: ConfigurationFile?) throws(StatusError) {
        // Container platforms set variables to nothing rather than leave them out.
        let environment = EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
        let members = file?.members ?? []
        let fileProvider = InMemoryProvider(
            values: Dictionary(uniqueKeysWithValues: members.map { ($0.setting.key, ConfigValue($0.content, isSecret: false)) })
        )
        var sources: [String: Source] = [:]
        var merged: [String] = []
        for setting in ServeSetting.all {
            if Self.isGiven(setting, in: arguments) {
                sources[setting.name] = .option(setting.option)
            } else if let (content, variable) = try setting.variableContent(in: environment) {
                sources[setting.name] = .variable(variable)
                merged += setting.arguments(content)
            } else if let content = try setting.content(in: fileProvider), let file,
                let line = members.first(where: { $0.setting.name == setting.name })?.line
            {
                sources[setting.name] = .file(path: file.path, line: line)
                merged += setting.arguments(content)
            }
        }
        self.sources = sources
        self.arguments = merged + arguments
    }

    /// Returns the number of words of a command that has the options of `hearth serve`; `nil` for other commands, and for requests
    /// for help, which a configuration file with an error must not keep from being answered.
    static func commandLength(in arguments: [String]) -> Int? {
        let command = [["serve"], ["config", "show"], ["doctor"]].first { arguments.starts(with: $0) }
        let isHelp = arguments.contains { ["--help", "-h", "-help", "--version"].contains($0) || $0.hasPrefix("--help-") }
        return isHelp ? nil : command?.count
    }

    /// Reads the settings of this process's command line. Blocks.
    ///
    /// - Parameter count: The number of words of the command.
    /// - Throws: The errors of ``init(arguments:environment:)``.
    init(ofCommandWithLength count: Int) throws(StatusError) {
        try self.init(
            arguments: Array(CommandLine.arguments.dropFirst(1 + count)),
            environment: ProcessInfo.processInfo.environment
        )
    }

    /// The source of a setting.
    func source(of setting: ServeSetting) -> Source { sources[setting.name] ?? .standard }

    /// Parses the settings.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for invalid ones, with the places where they are set.
    func options() throws(StatusError) -> ServeOptions {
        do {
            return try ServeOptions.parse(arguments)
        } catch {
            let message = ServeOptions.message(for: error)
            throw StatusError(.invalidArgument, ([message] + locations(ofOptionsIn: message)).joined(separator: " "))
        }
    }

    /// Returns where the options that a text mentions are set, one line for each, for errors about options that nobody has typed.
    func locations(ofOptionsIn text: String) -> [String] {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "-") }
        return ServeSetting.all.compactMap { setting in
            guard words.contains(where: { $0 == setting.option }) else { return nil }
            switch source(of: setting) {
            case .option, .standard: return nil
            case .variable(let name): return "\(setting.option) is set by the environment variable \(name)."
            case .file(let path, let line): return "\(setting.option) is \(setting.name) in \(path), line \(line)."
            }
        }
    }

    private static func isGiven(_ setting: ServeSetting, in arguments: [String]) -> Bool {
        arguments.contains { argument in
            argument == setting.option || argument.hasPrefix(setting.option + "=")
                || setting.kind == .boolean && argument == setting.negation
        }
    }

    /// Returns the value of an option, the last one if it is repeated.
    private static func optionValue(_ option: String, in arguments: [String]) -> String? {
        var value: String?
        for (index, argument) in arguments.enumerated() {
            if argument == option, index + 1 < arguments.count { value = arguments[index + 1] }
            if argument.hasPrefix(option + "=") { value = String(argument.dropFirst(option.count + 1)) }
        }
        return value
    }
}

extension ServeSetting {
    /// The key in the providers, whose encoding as the name of an environment variable is ``variable``.
    fileprivate var key: AbsoluteConfigKey { AbsoluteConfigKey(["hearth"] + words) }

    /// The option that sets a boolean to false.
    fileprivate var negation: String { "--no-" + words.joined(separator: "-") }

    /// Returns the value of the environment, and the name of the variable that has it; `nil` if there is none.
    fileprivate func variableContent(
        in environment: EnvironmentVariablesProvider
    ) throws(StatusError) -> (ConfigContent, variable: String)? {
        if let content = try content(in: environment) { return (content, variable) }
        guard let sharedVariable else { return nil }
        let key = AbsoluteConfigKey(sharedVariable.lowercased().split(separator: "_").map(String.init))
        // Meant for other programs, too: a value that this one cannot use is none.
        guard let content = try? content(in: environment, at: key, variable: sharedVariable),
            (try? ServeOptions.parse(arguments(content))) != nil
        else { return nil }
        return (content, sharedVariable)
    }

    /// Returns the value that a provider has; `nil` if it has none.
    fileprivate func content(in provider: some ConfigProvider) throws(StatusError) -> ConfigContent? {
        try content(in: provider, at: key, variable: variable)
    }

    private func content(
        in provider: some ConfigProvider,
        at key: AbsoluteConfigKey,
        variable: String
    ) throws(StatusError) -> ConfigContent? {
        do {
            return try provider.value(forKey: key, type: kind.type).value?.content
        } catch {
            let expectation = kind == .boolean ? "true or false" : kind == .number ? "a number" : "an integer"
            throw StatusError(.invalidArgument, "The environment variable \(variable) is not \(expectation).", cause: error)
        }
    }

    /// Returns the arguments that give the setting a value.
    fileprivate func arguments(_ content: ConfigContent) -> [String] {
        switch content {
        case .string(let value): ["\(option)=\(value)"]
        case .int(let value): ["\(option)=\(value)"]
        case .double(let value): ["\(option)=\(value)"]
        case .bool(let value): [value ? option : negation]
        case .stringArray(let values): values.map { "\(option)=\($0)" }
        // Not among the types of the kinds.
        case .bytes, .intArray, .doubleArray, .boolArray, .byteChunkArray: []
        }
    }
}

extension ServeSetting.Kind {
    /// The type of the values in the providers.
    fileprivate var type: ConfigType {
        switch self {
        case .string, .path: .string
        case .integer: .int
        case .number: .double
        case .boolean: .bool
        case .strings: .stringArray
        }
    }
}
