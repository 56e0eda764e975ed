import DocumentModel
import HearthAPI
import SecurityRules
import UTF8Text

/// The controller for the security rules of a database.
struct RulesController {
    let request: AdminRequest

    private var context: ServiceContext { request.context }

    /// Handles the page of the rules, the editor, and the restoration of earlier versions.
    func respond() async -> PageResponse {
        await request.respond { submission throws(StatusError) in
            try context.authorizeRules()
            guard let submission else { return .page(try await page()) }
            let form = submission.form
            var input = RulesInput(form)
            if submission.isStale {
                let isEditor = form.has("rules")
                return .page(RulesPage(try await state(), input: isEditor ? input : nil, problems: .stale, now: request.now))
            }
            switch form["do"] {
            case "edit": return .page(RulesPage(try await state(), input: input, now: request.now))
            case "check":
                input.check = RulesCheck(input.text)
                return .page(RulesPage(try await state(), input: input, problems: input.problems, now: request.now))
            case "deploy": return try await deploy(input)
            case "restore": return try await restore(form["version"]?.string ?? "", base: input.base)
            default: return .page(ErrorPage.invalidForm)
            }
        }
    }

    private func page() async throws(StatusError) -> any Page {
        let state = try await state()
        guard let version = request.query["version"] else { return RulesPage(state, now: request.now) }
        let found = try await GetRules.call(version.string, in: context)
        return RulesVersionPage(version, found.text ?? "", state, now: request.now)
    }

    private func state() async throws(StatusError) -> RulesState {
        try await RulesState(of: context)
    }

    private func deploy(_ input: RulesInput) async throws(StatusError) -> FormResult {
        let state = try await state()
        if let stored = state.stored.version, stored == input.base, input.text.utf8.elementsEqual((state.stored.text ?? "").utf8),
            state.problem == nil
        {
            return .redirect(to: AdminURL.rules, flash: .unchanged)
        }
        var input = input
        let check = RulesCheck(input.text)
        input.check = check
        var problems = input.problems
        if state.locksOut, !input.confirmsLockout {
            problems.add(localized("Confirm that the server may require keys from now on."), at: "confirm")
        }
        if !input.confirmsWarnings {
            let message = localized(
                count: check.issues.count,
                one: "The rules have {count} warning. Confirm it to deploy them.",
                other: "The rules have {count} warnings. Confirm them to deploy the rules."
            )
            problems.add(message, at: "warnings")
        }
        if problems.isEmpty {
            do throws(StatusError) {
                _ = try await SetRules.call(.text(input.text, .version(input.base)), in: context)
                return .redirect(to: AdminURL.rules, flash: .rulesDeployed)
            } catch {
                switch error.code {
                case .aborted: return .page(try await conflictPage(input))
                case .invalidArgument: problems.add(error.message, at: "rules")
                case .failedPrecondition, .dataLoss, .resourceExhausted: problems.add(error.message)
                default: throw error
                }
            }
        }
        return .page(RulesPage(state, input: input, problems: problems, now: request.now))
    }

    /// Returns the page that shows the rules that others have set meanwhile. Deploying again replaces them.
    private func conflictPage(_ input: RulesInput) async throws(StatusError) -> RulesPage {
        let state = try await state()
        let newer = state.stored.text ?? state.active?.text ?? ""
        var input = input
        input.base = state.stored.version
        return RulesPage(
            state,
            input: input,
            conflict: RulesDiffView(from: newer, to: input.text),
            now: request.now
        )
    }

    private func restore(_ version: String, base: UTF8Key?) async throws(StatusError) -> FormResult {
        var problems = FormProblems()
        do throws(StatusError) {
            _ = try await SetRules.call(.version(version, .version(base)), in: context)
            return .redirect(to: AdminURL.rules, flash: .restored(nil))
        } catch {
            switch error.code {
            case .aborted:
                problems.add(
                    localized("The rules have been changed since the page was loaded. Nothing was restored; compare again.")
                )
            case .notFound, .invalidArgument, .failedPrecondition, .dataLoss, .resourceExhausted:
                problems.add(error.message)
            default: throw error
            }
            return .page(RulesPage(try await state(), problems: problems, now: request.now))
        }
    }
}

extension RulesInput {
    /// The errors of the checked text.
    var problems: FormProblems {
        var problems = FormProblems()
        let count = check?.issues.count { $0.severity == .error } ?? 0
        if count > 0 {
            problems.add(
                localized(count: count, one: "The rules have {count} error.", other: "The rules have {count} errors."),
                at: "checked"
            )
        }
        return problems
    }
}

extension RulesState {
    /// Reads the rules of the selected database. Damage of the earlier versions is part of the state.
    init(of context: ServiceContext) async throws(StatusError) {
        let rules = context.rules
        stored = try await rules.stored()
        active = rules.active
        problem = rules.problem
        denials = rules.denials
        locksOut =
            context.caller.identity == .openAccess && !context.rulesRegistry.isEmulator && !context.rulesRegistry.hasRules
        do throws(StatusError) {
            history = try await rules.history()
            historyProblem = nil
        } catch {
            history = nil
            historyProblem = error
        }
    }
}

extension ServiceContext {
    /// Requires that the caller may see and change rules.
    func authorizeRules() throws(StatusError) {
        try authorize(.admin)
        try caller.requireAccessToDatabase()
    }
}
