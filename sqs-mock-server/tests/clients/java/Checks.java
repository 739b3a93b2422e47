import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** What the steps of the tour assert with. */
final class Checks {
    interface Call {
        void run() throws Exception;
    }

    static void equal(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("expected " + expected + ", got " + got);
        }
    }

    static <T> T only(List<T> things) {
        if (things.size() != 1) {
            throw new AssertionError("expected one thing, got " + things);
        }
        return things.get(0);
    }

    /** A call that fails with exactly this exception, in an async client too; returns it. */
    static <E extends Throwable> E fails(Class<E> type, Call call) {
        try {
            call.run();
        } catch (Throwable thrown) {
            var cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
            if (cause.getClass() != type) {
                throw new AssertionError("expected " + type.getSimpleName() + ", got " + cause, cause);
            }
            return type.cast(cause);
        }
        throw new AssertionError("expected " + type.getSimpleName() + ", got an answer");
    }

    /** A call that the server refuses with exactly this exception, code and status. */
    static <E extends SqsException> void refused(Class<E> type, String code, int status, Call call) {
        var error = fails(type, call);
        equal(code, error.awsErrorDetails().errorCode());
        equal(status, error.statusCode());
        equal(false, error.requestId() == null || error.requestId().isEmpty());
    }

    /** Looks until it is so: what the server does in the background takes it a moment. */
    static void eventually(String what, BooleanSupplier look) throws InterruptedException {
        for (var attempt = 0; attempt < 500; attempt++) {
            if (look.getAsBoolean()) {
                return;
            }
            Thread.sleep(10);
        }
        throw new AssertionError("expected that " + what + ", which did not come");
    }
}
